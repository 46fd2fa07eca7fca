/**
 * How routes are made for what is found in a tailnet, and for what is published to it.
 *
 * @module
 */

import { z } from "zod";
import { text } from "./fields.ts";

const VARIABLE = "\\{(service|tailnet|domain)\\}";
const HOST_LABEL = `([-a-z0-9]|${VARIABLE})+`;
const HOST_PATTERN = `^${HOST_LABEL}(\\.${HOST_LABEL})*$`;
const PATH_PATTERN = `^/([-A-Za-z0-9/._~%!$&'()*+,;=:@]|${VARIABLE})*$`;

const VARIABLES =
  "`{tailnet}` is the tailnet's `name` in this object, and `{domain}` its DNS domain";

const hostPattern = () => text().regex(new RegExp(HOST_PATTERN));
const pathPrefix = () => text().regex(new RegExp(PATH_PATTERN));
const protocol = () => z.enum(["HTTP", "HTTPS"]);

const ingress = () =>
  z.object({
    hostPattern: hostPattern().default("{service}.{tailnet}.gateway.local").describe(
      `The host name of a published route. \`{service}\` is the route's name, ${VARIABLES}.`,
    ),
    pathPrefix: pathPrefix().default("/").describe("The paths that are published."),
    protocol: protocol().default("HTTPS").describe(
      "The protocol of the listeners whose routes are published.",
    ),
  });

const egress = () =>
  z.object({
    hostPattern: hostPattern().default("{service}.tailscale.local").describe(
      `The host name by which a host of the tailnet is reached. \`{service}\` is the first label of the host's name, ${VARIABLES}.`,
    ),
    pathPrefix: pathPrefix().default("/tailscale/{service}/").describe(
      "The path prefix by which it is reached under every other host name; taken away before the host sees it.",
    ),
    protocol: protocol().default("HTTP").describe("The protocol of the listeners that serve it."),
    delivery: z.enum(["HTTPRoute", "Inject"]).default("HTTPRoute").describe(
      "`HTTPRoute`: an HTTPRoute for each host, which users see and their policies cover. `Inject`: into every virtual host of the Gateway, where users' policies do not cover it.",
    ),
  });

/** `routeGeneration` of a tailnet of a TailscaleGateway. */
export const routeGeneration = () =>
  z.object({
    ingress: ingress().default(ingress().parse({})).describe(
      "From the tailnet to the cluster: how the Gateway's routes are published.",
    ),
    egress: egress().default(egress().parse({})).describe(
      "From the cluster to the tailnet: how hosts that were found are reached.",
    ),
  });
