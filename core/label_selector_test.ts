import { assertEquals } from "@std/assert";
import { isEmptySelector, type LabelSelector, selectorMatches } from "./label_selector.ts";

const LABELS = { app: "web", tier: "front" };

const cases: readonly [title: string, selector: LabelSelector, matches: boolean][] = [
  ["no requirement", {}, true],
  ["all matchLabels are there", { matchLabels: { app: "web", tier: "front" } }, true],
  ["a matchLabel has another value", { matchLabels: { app: "web", tier: "back" } }, false],
  ["a matchLabel is not there", { matchLabels: { team: "a" } }, false],
  ["In with the value", one("In", "app", "api", "web"), true],
  ["In without the value", one("In", "app", "api"), false],
  ["In of a label that is not there", one("In", "team", "a"), false],
  ["NotIn with the value", one("NotIn", "app", "web"), false],
  ["NotIn of a label that is not there", one("NotIn", "team", "a"), true],
  ["Exists of a label that is there", one("Exists", "app"), true],
  ["Exists of a label that is not there", one("Exists", "team"), false],
  ["DoesNotExist of a label that is there", one("DoesNotExist", "app"), false],
  ["DoesNotExist of a label that is not there", one("DoesNotExist", "team"), true],
  ["a label met and an expression not", {
    matchLabels: { app: "web" },
    ...one("Exists", "team"),
  }, false],
];

function one(
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist",
  key: string,
  ...values: string[]
): LabelSelector {
  return { matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }] };
}

for (const [title, selector, matches] of cases) {
  Deno.test(`selectorMatches() is ${matches} for ${title}`, () => {
    assertEquals(selectorMatches(selector, LABELS), matches);
  });
}

Deno.test("isEmptySelector() tells a selector without requirements", () => {
  assertEquals(isEmptySelector({}), true);
  assertEquals(isEmptySelector({ matchLabels: {}, matchExpressions: [] }), true);
  assertEquals(isEmptySelector({ matchLabels: { app: "web" } }), false);
  assertEquals(isEmptySelector(one("Exists", "app")), false);
});
