import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DaemonDiedError, Daemons } from "./daemons.ts";
import { waitFor } from "./wait.ts";

async function withDaemons(body: (daemons: Daemons) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  const daemons = new Daemons(dir);
  try {
    await body(daemons);
  } finally {
    await daemons.stopAll();
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("a daemon logs to its file, and ends with its children when it is stopped", () =>
  withDaemons(async (daemons) => {
    const script = "sleep 100 & echo $!; wait";
    const daemon = daemons.start("sleeper", ["sh", "-c", script]);
    await daemon.ready(() => daemon.log().trim());
    const child = Number(daemon.log());
    assert(daemon.running);
    assertEquals(daemons.get("sleeper"), daemon);
    await daemon.stop();
    daemon.check();
    assertEquals(daemons.get("sleeper"), undefined);
    // It is told to end at the same time; it is gone, or waits to be buried, a moment later.
    await waitFor("its child ends", async () => {
      const stat = await Deno.readTextFile(`/proc/${child}/stat`).catch(() => "gone Z");
      return / Z/.test(stat);
    });
  }));

Deno.test("a daemon that dies by itself is noticed, with its last words", () =>
  withDaemons(async (daemons) => {
    const daemon = daemons.start("mayfly", ["sh", "-c", "echo farewell; exit 7"]);
    const waiting = daemon.ready(() => false);
    await assertRejects(() => waiting, DaemonDiedError, "mayfly ended with 7");
    assertThrows(() => daemons.check(), DaemonDiedError, "farewell");
  }));

Deno.test("a daemon that ignores SIGTERM is killed after its grace", () =>
  withDaemons(async (daemons) => {
    const daemon = daemons.start("stubborn", ["sh", "-c", "trap '' TERM; echo up; sleep 100"]);
    await daemon.ready(() => daemon.log() !== "");
    await daemon.stop(50);
    assertEquals(daemon.running, false);
  }));
