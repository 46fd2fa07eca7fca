/**
 * The spec of a TailscaleEndpoints, which is also what a TailscaleServices makes
 * its own from.
 *
 * @module
 */

import { z } from "zod";
import { discovery, endpoint, label } from "./endpoint_fields.ts";
import { LIMITS, listByKeys, name1035, namespaceName, port, tags } from "./fields.ts";
import { endpointsProxy } from "./proxy_fields.ts";
import { type FieldRule, withRules } from "./rules.ts";

const backendRef = z.object({
  kind: z.enum(["Service"]).default("Service").describe("The kind of the backend."),
  name: name1035().describe("The Service's name."),
  namespace: namespaceName().exactOptional().describe(
    "The Service's namespace; another one than the object's own needs a ReferenceGrant there. By default the object's own.",
  ),
  port: port().describe("The Service's port."),
});

const ingressPort = z.object({
  name: label().exactOptional().describe(
    "The port's name, unique in the object. By default `<protocol>-<port>` in lower case.",
  ),
  port: port().describe("The port that the proxies serve in the tailnet."),
  protocol: z.enum(["TCP", "UDP"]).default("TCP").describe(
    "The port's protocol; UDP needs Kernel-mode proxies.",
  ),
  targetPort: port().exactOptional().describe(
    "Without backendRef: the port of the endpoint that is served. By default `port`.",
  ),
  backendRef: backendRef.exactOptional().describe(
    "The Service that is served. By default what a TailscaleServices or TailscaleGateway sends through the port, else the one endpoint whose port is targetPort.",
  ),
}).describe("A port that the ingress proxies serve.");

const DEFAULT_NAME = "^(tcp|udp)-[0-9]{1,5}$";

/** An ingress port that takes no other port's default name. */
const namedPort = withRules(ingressPort, {
  rule:
    `!has(self.name) || !self.name.matches('${DEFAULT_NAME}') || self.name.startsWith(self.protocol.lowerAscii() + '-') && int(self.name.substring(4)) == self.port`,
  message: "a name of the form tcp-<port> or udp-<port> must be that of this very port",
  holds: ({ name, ...rest }) =>
    name === undefined || !new RegExp(DEFAULT_NAME).test(name) || name === portName(rest),
});

/** The name that a port goes by. */
export function portName(port: { name?: string; protocol: string; port: number }): string {
  return port.name ?? `${port.protocol.toLowerCase()}-${port.port}`;
}

const ports = withRules(
  listByKeys(namedPort, { keys: ["port", "protocol"], max: LIMITS.ports }),
  {
    rule: "self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",
    message: "two ports have the same name",
    holds: (list) => new Set(list.map(portName)).size === list.length,
  },
);

/** The fields of a TailscaleEndpoints' spec; whether `tailnet` can change is up to the kind. */
export const endpointsFields = () => ({
  tailnet: name1035().describe("The TailscaleTailnet that the proxies log in to."),
  tags: tags().exactOptional().describe(
    "Tags of the proxies, such as `tag:k8s-proxy`, beside those of the tailnet.",
  ),
  proxy: endpointsProxy().exactOptional().describe(
    "How the proxies run. By default two of each direction, in userspace. Not together with proxyGroup.",
  ),
  proxyGroup: name1035().exactOptional().describe(
    "A TailscaleProxyGroup of this namespace whose proxies are used instead of own ones.",
  ),
  ports: ports.exactOptional().describe("What the ingress proxies serve in the tailnet."),
  endpoints: listByKeys(endpoint(), { keys: ["name"], max: LIMITS.endpoints }).exactOptional()
    .describe("Backends by address, for routes that name this object as backendRef."),
  autoDiscovery: discovery().exactOptional().describe(
    "Backends by discovery: hosts of the tailnet whose names match. By default none.",
  ),
});

/** Own proxies, or those of a group. */
export const PROXY_OR_GROUP: FieldRule<{ proxy?: unknown; proxyGroup?: unknown }> = {
  rule: "!(has(self.proxy) && has(self.proxyGroup))",
  message: "proxy and proxyGroup cannot be set together: the group has its own proxies",
  holds: ({ proxy, proxyGroup }) => proxy === undefined || proxyGroup === undefined,
};
