import type { Case, Fields } from "./cases.ts";

const kind = "TailscaleRoutePolicy";
const GATEWAY_API = "gateway.networking.k8s.io";
const ROUTE: Fields = { group: GATEWAY_API, kind: "HTTPRoute", name: "web" };
const ALLOW: Fields = { type: "Allow" };
const spec = (fields: Fields = {}): Fields => ({ targetRefs: [ROUTE], ...fields });
const rules = (...list: readonly Fields[]): Fields => spec({ rules: list });
const match = (...matches: readonly Fields[]): Fields => rules({ matches, actions: [ALLOW] });
const who = (tailnet: Fields): Fields => match({ tailnet });
const actions = (...list: readonly Fields[]): Fields => rules({ actions: list });
const target = (fields: Fields): Fields => ({ targetRefs: [{ ...ROUTE, ...fields }] });
const redirect = (fields: Fields): Fields => actions({ type: "Redirect", redirect: fields });

const modifier: Fields = { set: [{ name: "x-user", value: "a" }], remove: ["x-old"] };

/** Each type of action, with a whole value of its field. */
const FIELDS: readonly [type: string, field: string, value: Fields][] = [
  ["Redirect", "redirect", { scheme: "https", hostname: "login.example.com", port: 443 }],
  ["RequestHeaderModifier", "requestHeaderModifier", modifier],
  ["ResponseHeaderModifier", "responseHeaderModifier", { add: [{ name: "x-by", value: "us" }] }],
  ["Route", "route", { backendRefs: [{ name: "canary", port: 80, weight: 1 }] }],
  ["RateLimit", "rateLimit", { requests: 10, unit: "Minute" }],
];

const unionCases: readonly Case[] = FIELDS.map(([type, field, value]) => ({
  asks: `type: ${type} and ${field} go together: the one needs the other`,
  kind,
  accepted: [actions({ type, [field]: value })],
  refused: [actions({ type }), actions({ type: "Allow", [field]: value })],
}));

export const routePolicyCases: readonly Case[] = [
  {
    asks:
      "must be a Gateway, HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute of gateway.networking.k8s.io, or a TailscaleServices of gateway.tailscale.com",
    kind,
    accepted: [
      ...["Gateway", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"]
        .map((kind) => target({ kind })),
      target({ sectionName: "admin" }),
      target({ group: "gateway.tailscale.com", kind: "TailscaleServices" }),
    ],
    refused: [
      target({ kind: "GatewayClass" }),
      target({ kind: "TailscaleServices" }),
      target({ group: "gateway.tailscale.com" }),
      target({ group: "", kind: "Service" }),
    ],
  },
  {
    asks: "one target at least",
    schemaSays: /spec\.targetRefs: (Required value|Invalid value)/,
    kind,
    accepted: [spec()],
    refused: [{}, { targetRefs: [] }],
  },
  {
    asks: "two rules have the same name",
    kind,
    accepted: [
      rules({ name: "a", actions: [ALLOW] }, { name: "b", actions: [ALLOW] }),
      rules({ actions: [ALLOW] }, { actions: [ALLOW] }),
    ],
    refused: [rules({ name: "a", actions: [ALLOW] }, { name: "a", actions: [ALLOW] })],
  },
  {
    asks: "a rule has at most one action of type Allow, Deny, Redirect or Route",
    kind,
    accepted: [
      actions(ALLOW, { type: "RateLimit", rateLimit: { requests: 1, unit: "Second" } }),
      actions({ type: "Deny" }, { type: "ResponseHeaderModifier", responseHeaderModifier: {} }),
    ],
    refused: [actions(ALLOW, { type: "Deny" }), actions(ALLOW, ALLOW)],
  },
  {
    asks: "statusCode is only for type: Deny",
    kind,
    accepted: [actions({ type: "Deny", statusCode: 403 }), actions({ type: "Deny" })],
    refused: [actions({ type: "Allow", statusCode: 403 })],
  },
  ...unionCases,
  {
    asks: "a redirect is 301, 302, 303, 307 or 308",
    kind,
    accepted: [301, 302, 303, 307, 308].map((statusCode) => redirect({ statusCode })),
    refused: [redirect({ statusCode: 300 }), redirect({ statusCode: 304 })],
  },
  {
    asks: "ReplaceFullPath goes with replaceFullPath, ReplacePrefixMatch with replacePrefixMatch",
    kind,
    accepted: [
      redirect({ path: { type: "ReplaceFullPath", replaceFullPath: "/login" } }),
      redirect({ path: { type: "ReplacePrefixMatch", replacePrefixMatch: "" } }),
    ],
    refused: [
      redirect({ path: { type: "ReplaceFullPath" } }),
      redirect({ path: { type: "ReplaceFullPath", replacePrefixMatch: "/" } }),
      redirect({
        path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/", replaceFullPath: "/" },
      }),
    ],
  },
  {
    asks: "names nobody: set tags, hostnames, ips or users, or leave tailnet out",
    kind,
    accepted: [
      who({ tags: ["tag:admin"] }),
      who({ hostnames: ["ops-*"], users: ["*@example.com"] }),
      match({}),
    ],
    refused: [who({}), who({ tags: [], ips: [] })],
  },
  {
    asks: "must be an IP address or a range, such as 100.64.0.0/24",
    kind,
    accepted: [
      who({ ips: ["100.64.0.0/24", "100.64.0.1", "fd7a:115c:a1e0::/48", "fd7a::1", "10.0.0.1/8"] }),
    ],
    refused: [
      who({ ips: ["100.64.0.0/33"] }),
      who({ ips: ["100.64.0"] }),
      who({ ips: ["fd7a::/129"] }),
      who({ ips: ["100.64.0.0/08"] }),
      who({ ips: ["api"] }),
    ],
  },
  {
    asks: "the value of a path must begin with /",
    kind,
    accepted: [
      match({ path: { type: "PathPrefix", value: "/admin" } }),
      match({ path: { type: "RegularExpression", value: ".*/admin" } }),
      match({ path: {} }),
    ],
    refused: [
      match({ path: { value: "admin" } }),
      match({ path: { type: "Exact", value: "admin" } }),
    ],
  },
  {
    asks: "methods, headers and actions as HTTP has them",
    schemaSays:
      /(methods\[0\]: Unsupported|headers\[0\]\.name: Invalid|actions: Invalid|defaultAction: Unsupported)/,
    kind,
    accepted: [
      match({
        headers: [{ type: "Exact", name: "x-env", value: "prod" }],
        methods: ["GET", "PATCH"],
      }),
      spec({ defaultAction: "Deny" }),
    ],
    refused: [
      match({ methods: ["get"] }),
      match({ headers: [{ name: "x env", value: "prod" }] }),
      rules({ actions: [] }),
      spec({ defaultAction: "Redirect" }),
    ],
  },
];
