import type { Case, Fields } from "./cases.ts";

const kind = "TailscaleEndpoints";
const endpoints = (...list: readonly Fields[]): Fields => ({ tailnet: "corp", endpoints: list });
const byIP = (fields: Fields = {}): Fields => ({
  name: "api",
  tailscaleIP: "100.64.0.10",
  port: 80,
  ...fields,
});
const ip = (tailscaleIP: string): Fields => endpoints(byIP({ tailscaleIP }));
const target = (externalTarget: string, fields: Fields = {}): Fields =>
  endpoints({ name: "web", externalTarget, ...fields });
const check = (healthCheck: Fields, fields: Fields = {}): Fields =>
  endpoints(byIP({ healthCheck, ...fields }));

const OWN_ADDRESS = "must not be a loopback, link-local, multicast or unspecified address";

export const endpointCases: readonly Case[] = [
  {
    asks: "names no host: set tailscaleIP, tailscaleFQDN or both, or externalTarget",
    kind,
    accepted: [
      endpoints(byIP()),
      endpoints({ name: "api", tailscaleFQDN: "api.tail8eff9.ts.net", port: 80 }),
      endpoints(byIP({ tailscaleFQDN: "api.tail8eff9.ts.net" })),
    ],
    refused: [endpoints({ name: "api", port: 80 })],
  },
  {
    asks: "externalTarget is instead of tailscaleIP and tailscaleFQDN, not beside them",
    kind,
    accepted: [target("web.apps.svc.cluster.local:8080")],
    refused: [
      target("web:80", { tailscaleIP: "100.64.0.10" }),
      target("web:80", { tailscaleFQDN: "web.tail8eff9.ts.net" }),
    ],
  },
  {
    asks: "port is required, except with externalTarget",
    kind,
    accepted: [endpoints(byIP()), target("web:80")],
    refused: [endpoints({ name: "api", tailscaleIP: "100.64.0.10" })],
  },
  {
    asks: "port must agree with the port of externalTarget",
    kind,
    accepted: [target("web:8080", { port: 8080 }), target("[fd00::1]:80", { port: 80 })],
    refused: [target("web:8080", { port: 80 }), target("[fd00::80]:8080", { port: 80 })],
  },
  {
    asks: "tls is only for the protocols HTTPS, HTTP2, GRPC and TLS",
    kind,
    accepted: [
      endpoints(byIP({ protocol: "HTTPS", tls: { serverName: "api.example.com" } })),
      endpoints(byIP({ protocol: "GRPC", tls: { caBundleRef: { name: "ca" } } })),
      endpoints(byIP({ protocol: "TLS", tls: { clientCertificateRef: { name: "client" } } })),
    ],
    refused: [endpoints(byIP({ tls: {} })), endpoints(byIP({ protocol: "TCP", tls: {} }))],
  },
  {
    asks: "an endpoint of protocol UDP cannot be checked: leave healthCheck out",
    kind,
    accepted: [endpoints(byIP({ protocol: "UDP" })), check({ enabled: true }, { protocol: "TCP" })],
    refused: [check({ enabled: true }, { protocol: "UDP" })],
  },
  {
    asks: "must be an IPv4 or IPv6 address, such as 100.64.0.10",
    kind,
    accepted: [ip("100.64.0.10"), ip("fd7a:115c:a1e0::a"), ip("192.168.1.20")],
    refused: [
      ip("api"),
      ip("100.64.0"),
      ip("100.64.0.010"),
      ip("100.64.0.10/32"),
      ip("fe80::1%eth0"),
      ip("::ffff:127.0.0.1"),
    ],
  },
  {
    asks: OWN_ADDRESS,
    kind,
    accepted: [ip("100.100.100.100"), target("10.0.0.1:80"), target("[fd00::1]:80")],
    refused: [
      ip("127.0.0.1"),
      ip("127.8.9.10"),
      ip("::1"),
      ip("0.0.0.0"),
      ip("::"),
      ip("169.254.169.254"),
      ip("fe80::1"),
      ip("224.0.0.1"),
      ip("239.1.2.3"),
      ip("ff02::1"),
      target("127.0.0.1:15000"),
      target("[::1]:80"),
      target("[::]:80"),
      target("[ff05::2]:80"),
      target("169.254.169.254:80"),
    ],
  },
  {
    asks: "must not be a name of the own host",
    kind,
    accepted: [target("localhost.example.com:80"), target("mylocalhost:80")],
    refused: [
      target("localhost:80"),
      target("foo.localhost:80"),
      target("localhost.localdomain:80"),
    ],
  },
  {
    asks: "must be host:port, in lower case, with an IPv6 address in brackets",
    kind,
    accepted: [target("web:80"), target("a-b.example.com:65535"), target("[fd00::1]:80")],
    refused: [
      target("web"),
      target("web:"),
      target("web:http"),
      target("web:080"),
      target(":80"),
      target("http://web:80"),
      target("Web:80"),
      target("fd00::1:80"),
      target("web.:80"),
      target("-web:80"),
      target("[::ffff:127.0.0.1]:80"),
      target("[fe80]:80"),
    ],
  },
  {
    asks: "the port must be between 1 and 65535",
    kind,
    accepted: [target("web:1"), target("web:65535")],
    refused: [target("web:65536"), target("web:99999")],
  },
  {
    asks: "a host that ends in a number must be a whole IP address",
    kind,
    accepted: [target("10.0.0.1:80"), target("1.example.com:80"), target("web1:80")],
    refused: [
      target("127.1:80"),
      target("2130706433:80"),
      target("0x7f.1:80"),
      target("0x7f000001:80"),
    ],
  },
  {
    asks: "a duration here is at least 1s",
    kind,
    accepted: [check({ interval: "1s", timeout: "1m30s" }), check({ interval: "1500ms" })],
    refused: [check({ interval: "0s" }), check({ timeout: "500ms" })],
  },
  {
    // One character that Envoy refuses would have it refuse the cluster and all beside it.
    asks: "a path that Envoy asks for",
    schemaSays: /healthCheck\.path/,
    kind,
    accepted: [check({ path: "/" }), check({ path: "/health?deep=1&q=%20~" })],
    refused: ["health", "/a b", "/a#b", "/a\0b", "/a\x0bb", "/a\x7fb", "/ä"].map((path) =>
      check({ path })
    ),
  },
  {
    asks: "durations as in the Gateway API",
    schemaSays: /should match '\^\(\[0-9\]/,
    kind,
    accepted: [check({ interval: "1h2m3s4ms" })],
    refused: [check({ interval: "10" }), check({ interval: "1.5s" }), check({ timeout: "1d" })],
  },
  {
    asks: "unique names of endpoints, at most 256",
    schemaSays: /Duplicate value|Too many/,
    kind,
    accepted: [
      endpoints(byIP(), byIP({ name: "other" })),
      endpoints(...Array.from({ length: 256 }, (_, i) => byIP({ name: `e${i}` }))),
    ],
    refused: [
      endpoints(byIP(), byIP({ port: 81 })),
      endpoints(...Array.from({ length: 257 }, (_, i) => byIP({ name: `e${i}` }))),
    ],
  },
  {
    asks: "full DNS names",
    schemaSays: /spec\.endpoints\[0\]\.tailscaleFQDN/,
    kind,
    accepted: [endpoints({ name: "x", tailscaleFQDN: "x.tail8eff9.ts.net", port: 1 })],
    refused: ["x", "X.ts.net", "100.64.0.1", "x.ts.net."].map((tailscaleFQDN) =>
      endpoints({ name: "x", tailscaleFQDN, port: 1 })
    ),
  },
  {
    asks: "a protocol, port and weight in range",
    schemaSays: /spec\.endpoints\[0\]\.(protocol|port|weight)/,
    kind,
    accepted: [endpoints(byIP({ weight: 1_000_000, port: 65535, protocol: "HTTP2" }))],
    refused: [
      endpoints(byIP({ protocol: "http" })),
      endpoints(byIP({ port: 0 })),
      endpoints(byIP({ port: 65536 })),
      endpoints(byIP({ weight: 0 })),
    ],
  },
];
