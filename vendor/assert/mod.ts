/**
 * The assertions of `@std/assert` that this project uses, over Node's `assert`
 * module, which Deno ships.
 *
 * @module
 */
import nodeAssert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

/** Thrown by a failed assertion. */
export const AssertionError = nodeAssert.AssertionError;

// deno-lint-ignore no-explicit-any
type Class<T> = abstract new (...args: any[]) => T;

function text(message: string | undefined, otherwise: string): string {
  return message === undefined ? otherwise : `${message}: ${otherwise}`;
}

/** Fails unless `value` is truthy. */
export function assert(value: unknown, message = "expected a truthy value"): asserts value {
  nodeAssert.ok(value, message);
}

/** Fails unless `value` is falsy. */
export function assertFalse(value: unknown, message = "expected a falsy value"): void {
  nodeAssert.ok(!value, message);
}

/** Fails always. */
export function fail(message = "failed"): never {
  nodeAssert.fail(message);
}

/** Fails unless both are deeply equal, prototypes included. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  try {
    nodeAssert.deepStrictEqual(actual, expected);
  } catch (cause) {
    if (message === undefined || !(cause instanceof Error)) throw cause;
    cause.message = `${message}: ${cause.message}`;
    throw cause;
  }
}

/** Fails if both are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.ok(
    !isDeepStrictEqual(actual, expected),
    text(message, `expected something other than ${Deno.inspect(expected)}`),
  );
}

/** Fails unless both are the same value (`Object.is`). */
export function assertStrictEquals<T>(actual: T, expected: T, message?: string): void {
  if (message === undefined) nodeAssert.strictEqual(actual, expected);
  else nodeAssert.strictEqual(actual, expected, message);
}

/** Fails if `value` is null or undefined. */
export function assertExists<T>(value: T, message?: string): asserts value is NonNullable<T> {
  nodeAssert.ok(value !== undefined && value !== null, text(message, "expected a value"));
}

/** Fails unless `value` is an instance of `type`. */
export function assertInstanceOf<T>(
  value: unknown,
  type: Class<T>,
  message?: string,
): asserts value is T {
  nodeAssert.ok(
    value instanceof type,
    text(message, `expected an instance of ${type.name}, got ${Deno.inspect(value)}`),
  );
}

/** Fails unless `actual` matches `expected`. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  nodeAssert.ok(expected.test(actual), text(message, `${expected} does not match: ${actual}`));
}

/** Fails unless `actual` holds `expected`. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  nodeAssert.ok(
    actual.includes(expected),
    text(message, `${JSON.stringify(expected)} is not in: ${actual}`),
  );
}

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.ok(actual > expected, text(message, `expected ${actual} > ${expected}`));
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.ok(actual >= expected, text(message, `expected ${actual} >= ${expected}`));
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.ok(actual < expected, text(message, `expected ${actual} < ${expected}`));
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.ok(actual <= expected, text(message, `expected ${actual} <= ${expected}`));
}

/** Fails unless every field of `expected` stands in `actual` with that value. */
export function assertObjectMatch(
  actual: Record<PropertyKey, unknown>,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void {
  assertEquals(pick(actual, expected), expected as unknown, message);
}

function pick(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, i) => i < expected.length ? pick(item, expected[i]) : item);
  }
  if (!isRecord(actual) || !isRecord(expected)) return actual;
  return Object.fromEntries(
    Object.keys(expected).filter((key) => key in actual)
      .map((key) => [key, pick(actual[key], expected[key])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkError<E extends Error>(
  error: unknown,
  type: Class<E>,
  includes: string | undefined,
  message: string | undefined,
): E {
  assertInstanceOf(error, type, message);
  if (includes !== undefined) assertStringIncludes(error.message, includes, message);
  return error;
}

/** Fails unless `fn` throws an error of that class whose message holds `includes`; returns it. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  type: Class<E> = Error as unknown as Class<E>,
  includes?: string,
  message?: string,
): E {
  try {
    fn();
  } catch (error) {
    return checkError(error, type, includes, message);
  }
  return fail(text(message, `expected ${type.name} to be thrown`));
}

/** Fails unless the promise of `fn` rejects so; resolves to the error. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  type: Class<E> = Error as unknown as Class<E>,
  includes?: string,
  message?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return checkError(error, type, includes, message);
  }
  return fail(text(message, `expected a rejection with ${type.name}`));
}
