/**
 * The backends of a TailscaleEndpoints: hosts by address, and hosts by discovery.
 *
 * @module
 */

import { z } from "zod";
import {
  celDialableIP,
  EXTERNAL_TARGET,
  isDialableIP,
  isIP,
  LOCAL_NAMES,
  NUMERIC_NAME,
  parseExternalTarget,
} from "./address.ts";
import { duration, LIMITS, objectName, port, setOf, tags, text } from "./fields.ts";
import { withRules } from "./rules.ts";

/** What is spoken to an endpoint. */
export const PROTOCOLS = ["HTTP", "HTTPS", "HTTP2", "GRPC", "TLS", "TCP", "UDP"] as const;
/** What is spoken to an endpoint. */
export type Protocol = typeof PROTOCOLS[number];

const FQDN = "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$";

/** A DNS label. */
export const label = () => text(LIMITS.name).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

const protocol = () =>
  z.enum(PROTOCOLS).default("HTTP").describe(
    "What is spoken to the host: HTTP, HTTPS, HTTP2 (without TLS unless `tls` is set), GRPC (likewise), TLS (passed through unless `tls` is set), TCP or UDP (only over Kernel-mode proxies).",
  );

function tailscaleIP() {
  return withRules(text(45), {
    rule: "isIP(self)",
    message: "must be an IPv4 or IPv6 address, such as 100.64.0.10",
    holds: isIP,
  }, {
    rule: `!isIP(self) || (${celDialableIP("self")})`,
    message: "must not be a loopback, link-local, multicast or unspecified address",
    holds: (address) => !isIP(address) || isDialableIP(address),
  });
}

const CEL_PORT = "int(self.substring(self.lastIndexOf(':') + 1))";
const CEL_HOST = "self.substring(0, self.lastIndexOf(':')).replace('[', '').replace(']', '')";
// Rules are asked even of a target that is of another form, which they let pass.
const OTHER_FORM = `!self.matches(${cel(EXTERNAL_TARGET)})`;

function externalTarget() {
  const named = `isIP(${CEL_HOST}) || !${CEL_HOST}`;
  return withRules(text(), {
    rule: `self.matches(${cel(EXTERNAL_TARGET)}) && (!self.startsWith('[') || isIP(${CEL_HOST}))`,
    message: "must be host:port, in lower case, with an IPv6 address in brackets",
    holds: (target) => parseExternalTarget(target) !== undefined,
  }, {
    rule: `${OTHER_FORM} || ${CEL_PORT} <= 65535`,
    message: "the port must be between 1 and 65535",
    holds: (target) => (parseExternalTarget(target)?.port ?? 1) <= 65535,
  }, {
    rule: `${OTHER_FORM} || !isIP(${CEL_HOST}) || (${celDialableIP(CEL_HOST)})`,
    message: "must not be a loopback, link-local, multicast or unspecified address",
    holds: (target) => !isIP(hostOf(target)) || isDialableIP(hostOf(target)),
  }, {
    rule: `${OTHER_FORM} || ${named}.matches(${cel(LOCAL_NAMES)})`,
    message: "must not be a name of the own host",
    holds: (target) => isIP(hostOf(target)) || !new RegExp(LOCAL_NAMES).test(hostOf(target)),
  }, {
    rule: `${OTHER_FORM} || self.startsWith('[') || ${named}.matches(${cel(NUMERIC_NAME)})`,
    message: "a host that ends in a number must be a whole IP address",
    holds: (target) => isIP(hostOf(target)) || !new RegExp(NUMERIC_NAME).test(hostOf(target)),
  });
}

/** The host of a target; a harmless one for a target of another form. */
function hostOf(target: string): string {
  return parseExternalTarget(target)?.host ?? "";
}

/** An expression over `self`, over a field of it. */
function of(field: string, expression: string): string {
  return expression.replaceAll("self.", `self.${field}.`);
}

/** A regular expression as a raw CEL string. */
function cel(pattern: string): string {
  return `r'${pattern}'`;
}

/** An active health check of an endpoint. */
const healthCheck = () =>
  z.object({
    enabled: z.boolean().exactOptional().describe(
      "Whether Envoy checks the endpoint. By default it does for HTTP, HTTPS, HTTP2 and GRPC, and not for TLS and TCP, where it takes an endpoint out after failed connections.",
    ),
    path: text().regex(/^\/[!"$-~]*$/).default("/").describe(
      "The path that is asked with GET, for the HTTP protocols; any status below 500 is healthy.",
    ),
    interval: duration().default("10s").describe("The time between two checks."),
    timeout: duration().default("5s").describe("How long an answer is waited for."),
    healthyThreshold: port().max(100).default(1).describe(
      "Good checks in a row after which an endpoint is healthy.",
    ),
    unhealthyThreshold: port().max(100).default(3).describe(
      "Bad checks in a row after which an endpoint is unhealthy.",
    ),
  });

const caBundleRef = () =>
  z.object({
    kind: z.enum(["ConfigMap", "Secret"]).default("ConfigMap").describe("The kind of the object."),
    name: objectName().describe("The name of the object, in this namespace."),
  });

const tls = () =>
  z.object({
    serverName: text().regex(new RegExp(FQDN)).exactOptional().describe(
      "The name that is asked for (SNI) and that the certificate must have. By default the host's DNS name.",
    ),
    caBundleRef: caBundleRef().exactOptional().describe(
      "Certificates of the authorities that are trusted, in key `ca.crt`. By default those that Envoy's image trusts.",
    ),
    clientCertificateRef: z.object({ name: objectName().describe("The Secret's name.") })
      .exactOptional().describe(
        "A Secret of type kubernetes.io/tls in this namespace: the certificate that Envoy shows.",
      ),
  });

const endpointFields = () => ({
  name: label().describe("The endpoint's name, unique in the object."),
  tailscaleIP: tailscaleIP().exactOptional().describe(
    "The host's address: in the tailnet, or in a subnet that a device of the tailnet routes.",
  ),
  tailscaleFQDN: text().regex(new RegExp(FQDN)).exactOptional().describe(
    "The full DNS name of a device or VIP service of the tailnet, such as `api.tail8eff9.ts.net`. With tailscaleIP too, that address is dialled and the name is Host and SNI.",
  ),
  externalTarget: externalTarget().exactOptional().describe(
    "A `host:port` that Envoy reaches itself, without a proxy, such as `web.apps.svc.cluster.local:8080`; instead of tailscaleIP and tailscaleFQDN.",
  ),
  port: port().exactOptional().describe(
    "The host's port. Required, except with externalTarget, with whose port it must agree.",
  ),
  protocol: protocol(),
  weight: z.int().min(1).max(1_000_000).default(1).describe(
    "The endpoint's share of the requests, relative to the others'.",
  ),
  tags: tags().exactOptional().describe("Tags that describe the endpoint, such as `tag:api`."),
  healthCheck: healthCheck().exactOptional().describe(
    "How Envoy finds out whether the endpoint works, end to end through the proxy.",
  ),
  tls: tls().exactOptional().describe(
    "How Envoy speaks TLS to the endpoint, for HTTPS, HTTP2, GRPC and TLS.",
  ),
});

const TLS_PROTOCOLS: readonly Protocol[] = ["HTTPS", "HTTP2", "GRPC", "TLS"];

/** A backend by address. */
export const endpoint = () =>
  withRules(
    z.object(endpointFields()),
    {
      rule: "has(self.externalTarget) || has(self.tailscaleIP) || has(self.tailscaleFQDN)",
      message: "names no host: set tailscaleIP, tailscaleFQDN or both, or externalTarget",
      holds: (e) => [e.externalTarget, e.tailscaleIP, e.tailscaleFQDN].some((h) => h !== undefined),
    },
    {
      rule: "!has(self.externalTarget) || !(has(self.tailscaleIP) || has(self.tailscaleFQDN))",
      message: "externalTarget is instead of tailscaleIP and tailscaleFQDN, not beside them",
      holds: (e) => !e.externalTarget || !(e.tailscaleIP || e.tailscaleFQDN),
    },
    {
      rule: "has(self.externalTarget) || has(self.port)",
      message: "port is required, except with externalTarget",
      holds: (e) => e.externalTarget !== undefined || e.port !== undefined,
    },
    {
      // Not by string(self.port): the estimate takes its length for unbounded.
      rule: `!has(self.externalTarget) || !has(self.port) || ${
        of("externalTarget", OTHER_FORM)
      } || ${of("externalTarget", CEL_PORT)} == self.port`,
      message: "port must agree with the port of externalTarget",
      holds: (e) => !e.externalTarget || !e.port || e.externalTarget.endsWith(`:${e.port}`),
    },
    {
      rule: "!has(self.tls) || self.protocol in ['HTTPS', 'HTTP2', 'GRPC', 'TLS']",
      message: "tls is only for the protocols HTTPS, HTTP2, GRPC and TLS",
      holds: (e) => e.tls === undefined || TLS_PROTOCOLS.includes(e.protocol),
    },
    {
      rule:
        "self.protocol != 'UDP' || !has(self.healthCheck) || !has(self.healthCheck.enabled) || !self.healthCheck.enabled",
      message: "an endpoint of protocol UDP cannot be checked: leave healthCheck out",
      holds: (e) => e.protocol !== "UDP" || e.healthCheck?.enabled !== true,
    },
  ).describe("A backend by address.");

const glob = () => text().regex(/^[a-z0-9*?._-]+$/).describe("A glob, such as `api-*`.");

/** Which hosts of the tailnet are found by themselves. */
export const discovery = () =>
  z.object({
    enabled: z.boolean().default(false).describe("Whether hosts are looked for."),
    patterns: setOf(glob(), LIMITS.list).exactOptional().describe(
      "Globs over the first label or the full name of a device or VIP service. By default, and when empty, every name.",
    ),
    excludePatterns: setOf(glob(), LIMITS.list).exactOptional().describe(
      "Globs of names that are left out, whatever `patterns` says.",
    ),
    tags: tags().exactOptional().describe(
      "Tags of which a device must carry one. By default, and when empty, any device.",
    ),
    port: port().default(80).describe("The port of a device; a VIP service has its own ports."),
    protocol: protocol(),
    syncInterval: duration().default("30s").describe("How often the tailnet is looked at."),
  });
