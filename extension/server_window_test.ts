import { assertEquals } from "@std/assert";
import http2 from "node:http2";
import { systemClock } from "../telemetry/clock.ts";
import { ExtensionServer } from "./server.ts";
import { WINDOW_BYTES } from "./server_window.ts";
import { emptySnapshot } from "./snapshot.ts";

Deno.test("the server lets a client send megabytes before it waits", async () => {
  const server = new ExtensionServer({
    snapshot: () => emptySnapshot,
    clock: systemClock,
    log: { info() {}, error: console.error },
  });
  const port = await server.start("127.0.0.1:0");
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  session.once("error", reject);
  session.once("remoteSettings", (settings) => resolve(settings.initialWindowSize));
  assertEquals(await promise, WINDOW_BYTES);
  await new Promise<void>((closed) => session.close(closed));
  await server.stop(5_000);
});
