import { assertEquals } from "@std/assert";
import { TestClient } from "./testdata/client.ts";

const serve = new URL("testdata/serve.ts", import.meta.url);
const CLIENTS = 1000, AT_ONCE = 10;

// Deno 2.9.4 to 2.9.8 abort natively at a client's GOAWAY (denoland/deno#36788), which
// no test in the same process could report.
Deno.test(`the server's process outlives ${CLIENTS} clients that connect, call and close`, async () => {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--no-check", serve.href],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = Number((await lines.read()).value);
  const secret = new Uint8Array([0x1a, 0x02, 0x08, 0x01]);
  let left = CLIENTS;
  const worker = async () => {
    while (left-- > 0) {
      const client = new TestClient(port);
      const answer = await client.call("PostTranslateModify", secret);
      assertEquals([...answer], [0x12, 0x02, 0x08, 0x01]);
      client.close();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await process.stdin.close();
  assertEquals(Number((await lines.read()).value), CLIENTS);
  await lines.cancel();
  const { code, signal } = await process.status;
  assertEquals([code, signal], [0, null]);
});
