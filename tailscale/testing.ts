/**
 * Clients with a clock that tests move, and servers that misbehave, for tests.
 *
 * @module
 */
import type { FakeClock } from "../core/clock_fake.ts";
import { type Credential, TailscaleClient, type TailscaleClientOptions } from "./client.ts";
import { RateLimiter } from "./limiter.ts";

/** A client whose limiter never makes a test wait. */
export function clientFor(
  t: { url: string; clock: FakeClock; credential?: Credential },
  options: Partial<TailscaleClientOptions> = {},
): TailscaleClient {
  return new TailscaleClient({
    apiURL: t.url,
    credential: t.credential ?? { clientId: "kX", clientSecret: "canary-secret" },
    clock: t.clock,
    limiter: new RateLimiter({ clock: t.clock, burst: 1_000 }),
    random: () => 0.5,
    ...options,
  });
}

/**
 * Serves `answer` on a free port, and a good token where one is asked for.
 */
export async function withServer(
  answer: (request: Request) => Response | Promise<Response>,
  fn: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (!request.url.endsWith("/oauth/token")) return answer(request);
    return Response.json({ access_token: "canary-token", expires_in: 3600 });
  });
  try {
    await fn(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

/** Resolves as soon as `state` holds, which other work under way brings about. */
export async function until(state: () => boolean): Promise<void> {
  while (!state()) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** What `promise` is rejected with; fails when it is not. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection");
}
