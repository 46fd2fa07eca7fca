/**
 * What is measured: a value of ours, what it is measured against, and how good it
 * is to be.
 *
 * @module
 */
import { renderTable } from "../../cmd/table.ts";
import type { Ratio } from "./stats.ts";

/** What a figure is to reach. */
export interface Goal {
  readonly good: number;
  readonly ahead: number;
  /** What is to reach it: our own value, or its ratio to the reference's. */
  readonly of: "ours" | "ratio";
  /** @default {"lower"} */
  readonly better?: "lower" | "higher";
}

/** One figure, measured. */
export interface Figure {
  /** Which of the goals, such as `P1`. */
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly reference?: { readonly what: string; readonly value: number };
  readonly ratio?: Ratio;
  readonly goal?: Goal;
}

/** A figure that could not be measured, or not against its reference. */
export interface Skip {
  readonly id: string;
  readonly why: string;
}

/** What a bench gives. */
export interface Outcome {
  readonly figures: readonly Figure[];
  readonly skipped?: readonly Skip[];
}

export type Verdict = "ahead" | "good" | "short" | "-";

/** How good a figure is; `-` where it has no goal or its reference is missing. */
export function verdictOf({ ours, ratio, goal }: Figure): Verdict {
  const value = goal?.of === "ratio" ? ratio?.median : ours;
  if (!goal || value === undefined) return "-";
  const reaches = (limit: number) => goal.better === "higher" ? value >= limit : value <= limit;
  return reaches(goal.ahead) ? "ahead" : reaches(goal.good) ? "good" : "short";
}

/** The figures as a table for people. */
export function figureTable(figures: readonly Figure[]): string {
  const header = ["ID", "WHAT", "OURS", "REFERENCE", "RATIO", "GOOD/AHEAD", "VERDICT"];
  return renderTable([header, ...figures.map(rowOf)]);
}

function rowOf(figure: Figure): string[] {
  const { id, what, ours, unit, reference, ratio } = figure;
  const value = (number: number) => `${short(number)} ${unit}`.trimEnd();
  return [
    id,
    what,
    value(ours),
    reference ? `${value(reference.value)} ${reference.what}` : "-",
    ratio ? `${short(ratio.median)} (${short(ratio.q1)}..${short(ratio.q3)})` : "-",
    goalText(figure),
    verdictOf(figure),
  ];
}

function goalText({ goal, unit }: Figure): string {
  if (!goal) return "-";
  const sign = goal.better === "higher" ? "≥" : "≤";
  const text = `${sign} ${short(goal.good)} / ${short(goal.ahead)}`;
  return goal.of === "ratio" ? text : `${text} ${unit}`.trimEnd();
}

/** Three digits, or all that stand before the point. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}
