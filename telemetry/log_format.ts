/**
 * How a log line is written. Any value can be a field: formatting never throws,
 * and no credential gets through.
 *
 * @module
 */
import { REDACTED, redactText, Secret } from "../core/secret.ts";

/** Key/value pairs of a line. Values may be anything. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line before it is formatted. */
export interface LogLine {
  readonly time: Date;
  /** Lower case: debug, info, warn, error. */
  readonly level: string;
  /** The part of the program that speaks; "" for none. */
  readonly logger: string;
  /** Constant text: what varies is in the fields. */
  readonly message: string;
  readonly fields: LogFields;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const MAX_DEPTH = 6;
const RESERVED = new Set(["time", "level", "logger", "msg"]);
// Names under which credentials travel. "secret" is not one: it names a Secret object.
const SENSITIVE =
  /^(authorization|cookie|set-cookie|password|token|client_?secret|access_?token|refresh_?token|auth_?key|api_?key|private_?key)$/i;

/** One JSON object a line: `time`, `level`, `logger`, `msg`, then the fields. */
export function formatJson(line: LogLine): string {
  const head = {
    time: line.time.toISOString(),
    level: line.level,
    ...(line.logger === "" ? {} : { logger: line.logger }),
    msg: redactText(line.message),
  };
  return JSON.stringify({ ...head, ...plainFields(line.fields) });
}

/** `time LEVEL logger: message key=value …`, for people. */
export function formatText(line: LogLine): string {
  const logger = line.logger === "" ? "" : `${line.logger}: `;
  const head = `${line.time.toISOString()} ${line.level.toUpperCase().padEnd(5)} ${logger}`;
  const pairs = Object.entries(plainFields(line.fields))
    .map(([key, value]) => ` ${key}=${textValue(value)}`);
  return head + oneLine(redactText(line.message)) + pairs.join("");
}

function plainFields(fields: LogFields): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    out[RESERVED.has(key) ? `${key}_` : key] = SENSITIVE.test(key) ? REDACTED : plain(value, []);
  }
  return out;
}

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

// A line break in a value must not make a forged line.
function oneLine(text: string): string {
  return text.replace(CONTROL, (char) => SHORT_ESCAPES[char] ?? unicodeEscape(char));
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function unicodeEscape(char: string): string {
  return "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0");
}

function textValue(value: Json): string {
  if (isErrorShape(value)) return quote(errorText(value));
  return typeof value === "string" ? quote(value) : oneLine(JSON.stringify(value));
}

function quote(text: string): string {
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : oneLine(JSON.stringify(text));
}

interface ErrorShape {
  [key: string]: Json;
  error: string;
  message: string;
}

function isErrorShape(value: Json): value is ErrorShape {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    typeof value["error"] === "string" && typeof value["message"] === "string";
}

function errorText(value: ErrorShape): string {
  const cause = value["cause"];
  const rest = cause === undefined
    ? ""
    : `: ${isErrorShape(cause) ? errorText(cause) : textValue(cause)}`;
  return value.message + rest;
}

/** The value as JSON can hold it, without credentials. */
function plain(value: unknown, above: readonly object[]): Json {
  switch (typeof value) {
    case "string":
      return redactText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
      return value;
    case "object":
      return value === null ? null : plainObject(value, above);
    default:
      return value === undefined ? null : redactText(String(value));
  }
}

function plainObject(value: object, above: readonly object[]): Json {
  if (value instanceof Secret) return REDACTED;
  if (above.includes(value)) return "[circular]";
  if (above.length >= MAX_DEPTH) return "[deep]";
  const path = [...above, value];
  if (value instanceof Error) return plainError(value, path);
  if (value instanceof Date) return isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].map((item) => plain(item, path));
  }
  const entries = value instanceof Map || value instanceof Headers
    ? [...value].map(([key, item]) => [String(key), item] as const)
    : safeEntries(value);
  return plainEntries(entries, path, isKubernetesSecret(value));
}

function plainEntries(
  entries: readonly (readonly [string, unknown])[],
  path: readonly object[],
  secret: boolean,
): Json {
  const out: { [key: string]: Json } = {};
  for (const [key, item] of entries) {
    if (item === undefined) continue;
    const hide = SENSITIVE.test(key) || (secret && (key === "data" || key === "stringData"));
    out[key] = hide ? REDACTED : plain(item, path);
  }
  return out;
}

// A getter that throws must not lose the line.
function safeEntries(value: object): [string, unknown][] {
  return Object.keys(value).map((key) => {
    try {
      return [key, (value as Record<string, unknown>)[key]];
    } catch {
      return [key, "[unreadable]"];
    }
  });
}

function isKubernetesSecret(value: object): boolean {
  return "kind" in value && value.kind === "Secret";
}

function plainError(error: Error, path: readonly object[]): Json {
  const out: { [key: string]: Json } = { error: error.name, message: redactText(error.message) };
  if (error.cause !== undefined) out["cause"] = plain(error.cause, path);
  if (error instanceof AggregateError) out["errors"] = plain(error.errors, path);
  return out;
}
