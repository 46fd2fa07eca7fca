/**
 * A VIP service of the tailnet, as TailscaleServices and TailscaleGateway ask for it.
 *
 * @module
 */

import { z } from "zod";
import { LIMITS, setOf, tags, text } from "./fields.ts";
import { withRules } from "./rules.ts";

/** What the name of a VIP service begins with. */
export const VIP_PREFIX = "svc:";

const VIP_NAME = "^svc:[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const VIP_PORT = "^(tcp|udp):[1-9][0-9]{0,4}$";

/** The name of a VIP service. */
const vipName = () => text(VIP_PREFIX.length + LIMITS.name).regex(new RegExp(VIP_NAME));

/** What both kinds say about a VIP service. */
export const vipFields = () => ({
  tags: tags().exactOptional().describe("Tags of the VIP service, such as `tag:web-service`."),
  autoApprove: z.boolean().default(true).describe(
    "Whether the proxies are approved as hosts of the VIP without an administrator.",
  ),
  sharing: z.enum(["Attach", "Exclusive"]).default("Attach").describe(
    "`Attach`: join a VIP that the operator of another cluster registered. `Exclusive`: be the only one, and refuse to join.",
  ),
  tls: z.enum(["Passthrough", "Terminate"]).default("Passthrough").describe(
    "`Passthrough`: bytes go on as they come. `Terminate`: each proxy ends TLS with a certificate of its own from the tailnet.",
  ),
  proxyProtocol: z.boolean().default(false).describe(
    "Whether what is behind the VIP is told the tailnet client's address, by the PROXY protocol (version 2); it must understand that.",
  ),
});

/** The `name` of a VIP service; `fallback` says what it is by default. */
export const vipNameField = (fallback: string) =>
  vipName().exactOptional().describe(
    `The name of the VIP service, used as it stands: \`svc:\` and a DNS label. By default ${fallback}.`,
  );

/** A port of a VIP service. */
const vipPort = () =>
  withRules(text(LIMITS.name).regex(new RegExp(VIP_PORT)), {
    rule: `!self.matches('${VIP_PORT}') || int(self.substring(4)) <= 65535`,
    message: "the port of a VIP must be between 1 and 65535",
    holds: (value) => !new RegExp(VIP_PORT).test(value) || Number(value.slice(4)) <= 65535,
  }).describe("A port, such as `tcp:80`.");

/** The VIP service of a TailscaleServices. */
export const servicesVip = () =>
  z.object({
    name: vipNameField("`svc:` and the name of the object"),
    ports: setOf(vipPort(), LIMITS.ports).exactOptional().describe(
      "The ports of the VIP, such as `tcp:80`; `udp:<port>` only over Kernel-mode proxies. By default, and when empty, the ports of the selected objects.",
    ),
    ...vipFields(),
    comment: z.string().max(LIMITS.string).exactOptional().describe(
      "A comment, shown in Tailscale's admin console.",
    ),
    adopt: z.boolean().default(false).describe(
      "Whether a VIP service that carries no owner record is taken over. Otherwise it is left alone.",
    ),
  });
