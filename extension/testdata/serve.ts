/**
 * A process that serves the hooks until its stdin closes: prints its port, and at
 * the end how many calls it answered.
 *
 * @module
 */
import { systemClock } from "../../telemetry/clock.ts";
import { ExtensionServer } from "../server.ts";
import { emptySnapshot } from "../snapshot.ts";

const server = new ExtensionServer({
  snapshot: () => emptySnapshot,
  clock: systemClock,
  log: { info: () => {}, error: console.error },
});
console.log(await server.start("127.0.0.1:0"));
await Deno.stdin.readable.pipeTo(new WritableStream());
await server.stop(5_000);
console.log(server.stats.get("PostTranslateModify")?.calls);
