/**
 * Label selectors, as Kubernetes evaluates them.
 *
 * @module
 */

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** A requirement on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/**
 * Do the labels meet every requirement of the selector? One without requirements
 * is met by all labels; where it is to select nothing, ask {@linkcode isEmptySelector}.
 */
export function selectorMatches(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  // Every object of JavaScript has properties that are no labels, such as "constructor".
  const valueOf = (key: string) => Object.hasOwn(labels, key) ? labels[key] : undefined;
  return Object.entries(matchLabels).every(([key, value]) => valueOf(key) === value) &&
    matchExpressions.every((requirement) => isMet(requirement, valueOf(requirement.key)));
}

/** As in Kubernetes, NotIn is met by a label that is not there. */
function isMet({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
  }
}

/** Has the selector no requirement at all? */
export function isEmptySelector(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
