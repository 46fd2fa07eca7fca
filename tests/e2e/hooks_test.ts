/** The extension server answers a grpc-go client that sends Envoy Gateway's own messages. */
import { assertEquals, assertLess } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../testbed/command.ts";
import { program } from "../testbed/paths.ts";

const SERVE = fileURLToPath(new URL("../../extension/testdata/serve.ts", import.meta.url));
const MEBIBYTE = 1024 * 1024;

interface Called {
  readonly hook: string;
  readonly code: string;
  readonly identical: boolean;
  readonly readable: boolean;
  readonly resources: number;
  readonly difference?: string;
}

/** Runs the server in a process of its own, and checks that it lives until it is told to end. */
async function withServer(body: (address: string) => Promise<void>): Promise<void> {
  const args = ["run", "-A", "--no-lock", "--no-check", SERVE];
  const child = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  const reader = lines.getReader();
  const port = (await reader.read()).value?.trim();
  try {
    await body(`127.0.0.1:${port}`);
  } finally {
    await child.stdin.close();
    while (!(await reader.read()).done);
    assertEquals((await child.status).code, 0, "the server ended as told, not before");
  }
}

const hookclient = async (address: string, ...args: string[]) =>
  JSON.parse(await run([program("hookclient"), `-address=${address}`, ...args]));

Deno.test("each hook gives a grpc-go client back what it must not touch, byte for byte", () =>
  withServer(async (address) => {
    const calls: Called[] = await hookclient(address, "-clusters=2000");
    assertEquals(calls.map(({ hook }) => hook), [
      "PostRouteModify",
      "PostVirtualHostModify",
      "PostHTTPListenerModify",
      "PostClusterModify",
      "PostEndpointsModify",
      "PostTranslateModify",
    ]);
    for (const { hook, code, identical, readable, difference } of calls) {
      assertEquals({ code, identical, readable, difference }, {
        code: "OK",
        identical: true,
        readable: true,
        difference: undefined,
      }, hook);
    }
    assertEquals(calls.at(-1)?.resources, 2004, "2000 clusters, 2 listeners, a route, a secret");
  }));

Deno.test("a grpc-go client that connects, calls and closes 1000 times does not end the process", () =>
  withServer(async (address) => {
    const { calls, failed } = await hookclient(address, "-closes=1000");
    assertEquals({ calls, failed }, { calls: 1000, failed: {} });
  }));

Deno.test("a message of 16 MiB is taken, one of 65 MiB is refused with RESOURCE_EXHAUSTED", () =>
  withServer(async (address) => {
    const sizes = `-size=${16 * MEBIBYTE},${65 * MEBIBYTE},1024`;
    const calls: (Called & { requestBytes: number })[] = await hookclient(address, sizes);
    assertEquals(calls.map(({ code }) => code), ["OK", "ResourceExhausted", "OK"]);
    assertLess(16 * MEBIBYTE - calls[0]!.requestBytes, 100);
  }));
