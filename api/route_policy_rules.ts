/**
 * Which requests a rule of a TailscaleRoutePolicy is about.
 *
 * @module
 */

import { z } from "zod";
import { isCIDR, isIP } from "./address.ts";
import { label } from "./endpoint_fields.ts";
import { LIMITS, listByKeys, setOf, tags, text } from "./fields.ts";
import { action, DECISIONS, headerName } from "./route_policy_actions.ts";
import { withRules } from "./rules.ts";

const hostnameGlob = () => text().regex(/^[a-z0-9*?._-]+$/).describe("A glob, such as `ops-*`.");

const userGlob = () =>
  text().regex(/^[A-Za-z0-9*?._+@-]+$/).describe("A glob, such as `*@example.com`.");

const address = () =>
  withRules(text(49), {
    rule: "isIP(self) || isCIDR(self)",
    message: "must be an IP address or a range, such as 100.64.0.0/24",
    holds: (value) => isIP(value) || isCIDR(value),
  }).describe("An address or a range, such as `100.64.0.0/24`.");

const WHO = ["tags", "hostnames", "ips", "users"] as const;

const tailnetMatch = () =>
  withRules(
    z.object({
      tags: tags().exactOptional().describe("Tags of which the client's device must carry one."),
      hostnames: setOf(hostnameGlob(), LIMITS.list).exactOptional().describe(
        "Globs over the first label or the full name of the client's device, of which one must match.",
      ),
      ips: setOf(address(), LIMITS.list).exactOptional().describe(
        "Addresses and ranges, of which one must hold the client's address.",
      ),
      users: setOf(userGlob(), LIMITS.list).exactOptional().describe(
        "Globs over the login name of the device's user, of which one must match; a tagged device has no user.",
      ),
    }),
    {
      rule: WHO.map((field) => `has(self.${field}) && size(self.${field}) > 0`).join(" || "),
      message: "names nobody: set tags, hostnames, ips or users, or leave tailnet out",
      holds: (match) => WHO.some((field) => (match[field]?.length ?? 0) > 0),
    },
  );

const pathMatch = () =>
  withRules(
    z.object({
      type: z.enum(["Exact", "PathPrefix", "RegularExpression"]).default("PathPrefix").describe(
        "How `value` is compared with the path, as in an HTTPRoute.",
      ),
      value: text().default("/").describe("The path, prefix or regular expression (RE2)."),
    }),
    {
      rule: "self.type == 'RegularExpression' || self.value.startsWith('/')",
      message: "the value of a path must begin with /",
      holds: ({ type, value }) => type === "RegularExpression" || value.startsWith("/"),
    },
  );

const headerMatch = () =>
  z.object({
    type: z.enum(["Exact", "RegularExpression"]).default("Exact").describe(
      "How `value` is compared with the header's value.",
    ),
    name: headerName().describe("The header's name; case does not matter."),
    value: text().describe("The value, or a regular expression (RE2)."),
  }).describe("A header that the request must have.");

const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
] as const;

const match = () =>
  z.object({
    tailnet: tailnetMatch().exactOptional().describe(
      "Who asks, in the tailnet; each field that is set must match. By default anybody, from anywhere.",
    ),
    path: pathMatch().exactOptional().describe("The path. By default any."),
    headers: listByKeys(headerMatch(), { keys: ["name"], max: 16 }).exactOptional().describe(
      "Headers that the request must all have. By default none.",
    ),
    methods: setOf(z.enum(METHODS).describe("A method."), METHODS.length).exactOptional().describe(
      "Methods of which the request must have one. By default, and when empty, any.",
    ),
  }).describe("A match; all of its parts are required.");

const isDecision = (type: string) => (DECISIONS as readonly string[]).includes(type);
const CEL_DECISIONS = DECISIONS.map((type) => `'${type}'`).join(", ");

const rule = () =>
  withRules(
    z.object({
      name: label().exactOptional().describe("The rule's name, unique in the object."),
      matches: z.array(match()).max(16).exactOptional().describe(
        "Alternatives, of which one must match. By default, and when empty, every request does.",
      ),
      actions: z.array(action()).min(1).max(8).describe("What is done, in this order."),
    }),
    {
      rule: `size(self.actions.filter(a, a.type in [${CEL_DECISIONS}])) <= 1`,
      message: "a rule has at most one action of type Allow, Deny, Redirect or Route",
      holds: ({ actions }) => actions.filter(({ type }) => isDecision(type)).length <= 1,
    },
  ).describe("A rule.");

/** `spec.rules`. */
export const policyRules = () =>
  withRules(
    z.array(rule()).max(LIMITS.list).meta({ "x-kubernetes-list-type": "atomic" }),
    {
      rule: "self.all(r, !has(r.name) || self.exists_one(s, has(s.name) && s.name == r.name))",
      message: "two rules have the same name",
      holds: (rules) => {
        const names = rules.flatMap(({ name }) => name ?? []);
        return new Set(names).size === names.length;
      },
    },
  );
