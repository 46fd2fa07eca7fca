/**
 * Kubernetes quantities, such as `500m` or `1Gi`.
 *
 * Grammar: k8s.io/apimachinery/pkg/api/resource, `Quantity`.
 *
 * @module
 */

const QUANTITY =
  /^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE])([+-]?\d{1,3})|(n|u|m|k|M|G|T|P|E|[KMGTPE]i))?$/;

/** Powers of ten of the decimal suffixes. */
const DECIMAL: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** Powers of two of the binary suffixes. */
const BINARY: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/**
 * A quantity in units of 10⁻⁹, which is the finest that Kubernetes keeps (finer ones are
 * rounded away from zero); undefined for what is no quantity.
 *
 * @example
 * ```ts
 * import { parseQuantity } from "./quantity.ts";
 * parseQuantity("1000m") === parseQuantity(1); // true
 * ```
 */
export function parseQuantity(value: unknown): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = QUANTITY.exec(String(value));
  if (!match) return undefined;
  const [, sign, digits = "", , exponent, suffix = ""] = match;
  const point = digits.indexOf(".");
  const fraction = point < 0 ? 0 : digits.length - point - 1;
  const mantissa = BigInt(digits.replace(".", "")) << BigInt(BINARY[suffix] ?? 0);
  const power = 9 - fraction + Number(exponent ?? DECIMAL[suffix] ?? 0);
  const size = power >= 0
    ? mantissa * 10n ** BigInt(power)
    : ceilDiv(mantissa, 10n ** BigInt(-power));
  return sign === "-" ? -size : size;
}

function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

/** Whether two values are the same, as quantities where they are some. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const size = parseQuantity(a);
  return size !== undefined && size === parseQuantity(b);
}
