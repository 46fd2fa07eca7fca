/**
 * How a TailscaleServices spreads its requests. A field that is absent leaves the
 * matter to the selected objects' endpoints, or to Envoy Gateway.
 *
 * @module
 */

import { z } from "zod";
import { count, duration, LIMITS, name1035, port, setOf, text } from "./fields.ts";
import { withRules } from "./rules.ts";

/** How backends are chosen. */
export const STRATEGIES = ["round-robin", "least-connections", "weighted", "failover"] as const;

const objectNames = () =>
  setOf(name1035().describe("The name of a TailscaleEndpoints."), LIMITS.list).min(1);

const failover = () =>
  withRules(
    z.object({
      primary: objectNames().describe("The TailscaleEndpoints that are used while they can be."),
      secondary: objectNames().describe(
        "The TailscaleEndpoints that are used when none of the primary ones can be.",
      ),
    }),
    {
      rule: "!self.primary.exists(name, name in self.secondary)",
      message: "an object is in primary and in secondary",
      holds: ({ primary, secondary }) => !primary.some((name) => secondary.includes(name)),
    },
  );

const threshold = () => port().max(100);

/** Without defaults: what is absent is as the endpoints have it. */
const healthCheck = () =>
  z.object({
    enabled: z.boolean().exactOptional().describe(
      "Whether Envoy checks the backends. By default as the endpoints say.",
    ),
    path: text().regex(/^\/[!"$-~]*$/).exactOptional().describe(
      "The path that is asked with GET, such as `/health`. By default as the endpoints say.",
    ),
    interval: duration().exactOptional().describe(
      "The time between two checks. By default as the endpoints say.",
    ),
    timeout: duration().exactOptional().describe(
      "How long an answer is waited for. By default as the endpoints say.",
    ),
    healthyThreshold: threshold().exactOptional().describe(
      "Good checks in a row after which a backend is healthy. By default as the endpoints say.",
    ),
    unhealthyThreshold: threshold().exactOptional().describe(
      "Bad checks in a row after which a backend is unhealthy. By default as the endpoints say.",
    ),
  });

const limit = (what: string) =>
  count().max(4_294_967_295).exactOptional().describe(
    `The most ${what} at a time, of each Envoy. By default as Envoy Gateway has it.`,
  );

const circuitBreaker = () =>
  z.object({
    maxConnections: limit("connections to the backends"),
    maxPendingRequests: limit("requests that wait for a connection"),
    maxRequests: limit("requests that are under way"),
    maxRetries: limit("retries that are under way"),
  });

const outlierDetection = () =>
  z.object({
    consecutive5xx: count().max(4_294_967_295).exactOptional().describe(
      "Answers of status 5xx in a row after which a backend is taken out. By default as Envoy has it.",
    ),
    interval: duration().exactOptional().describe(
      "How often it is looked for such backends. By default as Envoy has it.",
    ),
    baseEjectionTime: duration().exactOptional().describe(
      "How long a backend is out, times how often it has been. By default as Envoy has it.",
    ),
    maxEjectionPercent: count().max(100).exactOptional().describe(
      "The most backends that are out at a time, in per cent. By default as Envoy has it.",
    ),
  });

const weight = () => count().max(1_000_000).describe("A weight; 0 sends nothing.");

const weights = () =>
  z.record(z.string(), weight())
    .refine((map) => Object.keys(map).length <= LIMITS.mapEntries, {
      error: `at most ${LIMITS.mapEntries} entries`,
    })
    .meta({ maxProperties: LIMITS.mapEntries });

/** `spec.loadBalancing`. */
export const loadBalancing = () =>
  withRules(
    z.object({
      strategy: z.enum(STRATEGIES).exactOptional().describe(
        "How backends are chosen. By default as the route's own policy says.",
      ),
      weights: weights().exactOptional().describe(
        "The share of each TailscaleEndpoints by its name, for `weighted`; 1 for one that is not named.",
      ),
      failover: failover().exactOptional().describe(
        "Which TailscaleEndpoints are used first, for `failover`.",
      ),
      healthCheck: healthCheck().exactOptional().describe(
        "How Envoy finds out whether a backend works.",
      ),
      circuitBreaker: circuitBreaker().exactOptional().describe(
        "Limits beyond which requests fail at once.",
      ),
      outlierDetection: outlierDetection().exactOptional().describe(
        "When a backend that fails is taken out for a while.",
      ),
    }),
    {
      rule: "!has(self.weights) || (has(self.strategy) && self.strategy == 'weighted')",
      message: "weights is only for strategy: weighted",
      holds: ({ weights, strategy }) => weights === undefined || strategy === "weighted",
    },
    {
      rule: "!has(self.failover) || (has(self.strategy) && self.strategy == 'failover')",
      message: "failover is only for strategy: failover",
      holds: ({ failover, strategy }) => failover === undefined || strategy === "failover",
    },
    {
      rule: "!has(self.strategy) || self.strategy != 'failover' || has(self.failover)",
      message: "strategy: failover needs failover",
      holds: ({ failover, strategy }) => strategy !== "failover" || failover !== undefined,
    },
  );
