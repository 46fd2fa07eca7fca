/**
 * What is refused before it is sent.
 *
 * @module
 */
import { type Call, whatOf } from "./call.ts";
import { InvalidRequest, TagsNotPermitted } from "./errors.ts";

const TAG = /^tag:[A-Za-z][A-Za-z0-9-]*$/;
const SERVICE_NAME = /^svc:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_DESCRIPTION = 50;

/** The URL in front of `/api/v2`: pasted with it or with a slash, it is meant all the same. */
export function baseURL(apiURL: string): string {
  const what = "apiURL";
  const url = URL.parse(apiURL);
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidRequest(`"${apiURL}" is no http or https URL`, { what });
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new InvalidRequest("give scheme, host, port and path only", { what });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/api\/v2$/, "");
}

/** Refuses tags that no server would take, and none where one is needed. */
export function checkTags(call: Call, { allowNone = false } = {}): void {
  const requested = call.tags ?? [];
  const detail = { what: whatOf(call) };
  const bad = requested.filter((tag) => !TAG.test(tag));
  if (bad.length > 0) {
    const names = bad.map((tag) => `"${tag}"`).join(", ");
    throw new TagsNotPermitted(
      { requested },
      `${names}: a tag is "tag:", a letter, then letters, digits and hyphens`,
      detail,
    );
  }
  if (requested.length === 0 && !allowNone) {
    throw new TagsNotPermitted(
      { requested },
      "no tags: what an OAuth client adds to a tailnet has at least one",
      detail,
    );
  }
}

/** Refuses a name that is not `svc:` and a DNS label. */
export function checkServiceName(name: string, call: Call): void {
  if (SERVICE_NAME.test(name)) return;
  throw new InvalidRequest(`"${name}" is no service name: "svc:" and one DNS label in lower case`, {
    what: whatOf(call),
  });
}

/**
 * Refuses an empty or relative id. With it the path would name the whole
 * collection, or something else.
 */
export function checkId(id: string, call: Call): void {
  if (/^[A-Za-z0-9_-]+$/.test(id)) return;
  throw new InvalidRequest(`"${id}" is no id`, { what: whatOf(call) });
}

/** The nearest text that Tailscale takes: letters, digits, hyphens and spaces, at most 50. */
export function keyDescription(text: string): string {
  return text.replace(/[^A-Za-z0-9 -]+/g, "-").slice(0, MAX_DESCRIPTION);
}
