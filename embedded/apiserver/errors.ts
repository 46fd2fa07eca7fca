/**
 * Refusals, in the words and shape of the real API server: an object of kind
 * Status with code, reason, message and details.
 *
 * @module
 */
import type { Json, JsonMap } from "./json.ts";
import { type ServedType, typeId } from "./types.ts";

/** One of the causes in a Status. */
export interface StatusCause {
  reason?: string;
  message: string;
  field?: string;
}

/** What a Status tells about the object and the reasons. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** A refusal, thrown within the server and answered as a Status. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details?: StatusDetails,
  ) {
    super(message);
  }

  /** The Status object that the client gets. */
  status(): JsonMap {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details as unknown as Json } : {}),
      code: this.code,
    };
  }
}

function named(type: ServedType, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.plural,
  };
}

export function notFound(type: ServedType, name: string): ApiError {
  return new ApiError(404, "NotFound", `${typeId(type)} "${name}" not found`, named(type, name));
}

/** The group and version are served, but not this. */
export function noSuchResource(): ApiError {
  return new ApiError(404, "NotFound", "the server could not find the requested resource", {});
}

/** Nothing is served there, not even the group: answered as text, as by the real server. */
export class NoSuchPath extends ApiError {
  constructor() {
    super(404, "NotFound", "404 page not found", {});
  }
}

export function alreadyExists(type: ServedType, name: string): ApiError {
  const message = `${typeId(type)} "${name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, named(type, name));
}

export function conflict(type: ServedType, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${typeId(type)} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, named(type, name));
}

/** A precondition of a deletion does not hold. */
export function preconditionFailed(type: ServedType, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${type.kind} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, { ...named(type, name), kind: type.kind });
}

/** The conflict of a write whose resourceVersion is no longer the object's. */
export function modified(type: ServedType, name: string): ApiError {
  const why =
    "the object has been modified; please apply your changes to the latest version and try again";
  return conflict(type, name, why);
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

export function forbidden(type: ServedType, name: string, options: {
  why: string;
  causes?: StatusCause[];
}): ApiError {
  const details = { ...named(type, name), ...(options.causes ? { causes: options.causes } : {}) };
  const message = `${typeId(type)} "${name}" is forbidden: ${options.why}`;
  return new ApiError(403, "Forbidden", message, details);
}

export function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError(405, "MethodNotAllowed", message, {});
}

export function unsupportedMediaType(got: string, supported: readonly string[]): ApiError {
  const message =
    `the body of the request was in an unknown format - accepted media types include: ${
      supported.join(", ")
    } (got ${JSON.stringify(got)})`;
  return new ApiError(415, "UnsupportedMediaType", message, {});
}

/** The resourceVersion, or continue token, is older than what is remembered. */
export function expired(message: string): ApiError {
  return new ApiError(410, "Expired", message);
}

/** The resourceVersion has not happened yet. */
export function tooLargeResourceVersion(wanted: number, current: number): ApiError {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  return new ApiError(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** The reasons that the real server gives, by how its messages begin. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^Required value/, "FieldValueRequired"],
  [/^Duplicate value/, "FieldValueDuplicate"],
  [/^Forbidden/, "FieldValueForbidden"],
  [/^Unsupported value/, "FieldValueNotSupported"],
  [/^Too long/, "FieldValueTooLong"],
  [/^Not found/, "FieldValueNotFound"],
  [/^Invalid value: .*must be of type/, "FieldValueTypeInvalid"],
];

/**
 * The object fails validation.
 *
 * @param errors each `<field>: <message>`, such as `spec.tailnet: Required value`.
 */
export function invalid(
  type: Pick<ServedType, "group" | "kind">,
  name: string,
  errors: readonly string[],
): ApiError {
  const causes = errors.map((error) => {
    const [, field = "", message = error] = /^([\w.[\]"/ -]+): ([\s\S]*)$/.exec(error) ?? [];
    const reason = CAUSES.find(([begin]) => begin.test(message))?.[1] ?? "FieldValueInvalid";
    return { reason, message, ...(field === "" ? {} : { field }) };
  });
  const text = errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`;
  const subject = type.group === "" ? type.kind : `${type.kind}.${type.group}`;
  return new ApiError(422, "Invalid", `${subject} "${name}" is invalid: ${text}`, {
    ...(name === "" ? {} : { name }),
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.kind,
    causes,
  });
}
