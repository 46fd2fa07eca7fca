/**
 * Resource quantities in the form in which the API server gives them back.
 *
 * @module
 */

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;

/**
 * The canonical form of a quantity: no fraction, the largest suffix that allows
 * this, the same family of suffixes. Text that is no quantity comes back as it is.
 *
 * @example
 * ```ts
 * import { canonicalQuantity } from "./quantity.ts";
 * canonicalQuantity("0.5"); // "500m"
 * canonicalQuantity("1024Mi"); // "1Gi"
 * ```
 */
export function canonicalQuantity(text: string): string {
  const [, sign, whole = "", fraction = "", suffix = ""] = FORM.exec(text) ?? [];
  if (sign === undefined || whole + fraction === "") return text;
  const digits = BigInt(whole + fraction);
  const nanos = toNanos({ digits, places: fraction.length, suffix });
  const minus = sign === "-" && nanos !== 0n ? "-" : "";
  const family = suffix.endsWith("i") && nanos % 1_000_000_000n === 0n ? "binary" : "decimal";
  return minus + (family === "binary" ? binary(nanos / 1_000_000_000n) : decimal(nanos));
}

/** Rounded up to a whole nano, the smallest amount that there is. */
function toNanos(value: { digits: bigint; places: number; suffix: string }): bigint {
  const { digits, places, suffix } = value;
  if (suffix.endsWith("i")) {
    return ceilDiv(digits * 1024n ** BigInt(BINARY.indexOf(suffix)) * 10n ** 9n, places);
  }
  const exponent = /^[eE]/.test(suffix) && suffix.length > 1
    ? Number(suffix.slice(1))
    : (DECIMAL.indexOf(suffix) - 3) * 3;
  const power = 9 + exponent - places;
  return power >= 0 ? digits * 10n ** BigInt(power) : ceilDiv(digits, -power);
}

function ceilDiv(value: bigint, places: number): bigint {
  const divisor = 10n ** BigInt(places);
  return (value + divisor - 1n) / divisor;
}

function binary(amount: bigint): string {
  let [rest, unit] = [amount, 0];
  while (rest !== 0n && rest % 1024n === 0n && unit < BINARY.length - 1) {
    rest /= 1024n;
    unit++;
  }
  return `${rest}${BINARY[unit]}`;
}

function decimal(nanos: bigint): string {
  if (nanos === 0n) return "0";
  let [rest, unit] = [nanos, 0];
  while (rest % 1000n === 0n && unit < DECIMAL.length - 1) {
    rest /= 1000n;
    unit++;
  }
  return `${rest}${DECIMAL[unit]}`;
}
