import { assert, assertEquals, assertRejects } from "@std/assert";
import { status } from "@grpc/grpc-js";
import { FakeClock } from "../core/clock_fake.ts";
import { codec } from "../proto/codec.ts";
import { systemClock } from "../telemetry/clock.ts";
import { HOOKS } from "./registry.ts";
import {
  ExtensionServer,
  type ExtensionServerOptions,
  type HookCall,
  ListenError,
} from "./server.ts";
import { buildSnapshot, emptySnapshot } from "./snapshot.ts";
import { backend, tailnetHost } from "./testdata/backends.ts";
import { TestClient } from "./testdata/client.ts";
import { beginCall } from "./testdata/half_call.ts";
import { lenField } from "./wire/splicer.ts";

const request = codec("envoygateway.extension.PostTranslateModifyRequest");
const response = codec("envoygateway.extension.PostTranslateModifyResponse");
const cluster = codec("envoy.config.cluster.v3.Cluster");

const OURS = "httproute/apps/web/rule/0";
const snapshot = buildSnapshot({
  clusters: [{ cluster: OURS, backend: backend([tailnetHost("web")]), gateways: ["apps/edge"] }],
});

interface Running {
  readonly server: ExtensionServer;
  readonly client: TestClient;
  readonly port: number;
  readonly calls: HookCall[];
  readonly errors: string[];
}

async function withServer(
  options: Partial<ExtensionServerOptions>,
  body: (running: Running) => Promise<void>,
): Promise<void> {
  const calls: HookCall[] = [], errors: string[] = [];
  const server = new ExtensionServer({
    snapshot: () => snapshot,
    clock: systemClock,
    log: { info: () => {}, error: (message) => errors.push(message) },
    onCall: (call) => calls.push(call),
    ...options,
  });
  const port = await server.start("127.0.0.1:0");
  const client = new TestClient(port);
  try {
    await body({ server, client, port, calls, errors });
  } finally {
    client.close();
    await server.stop(0);
  }
}

for (const { method } of HOOKS.filter((hook) => hook.method !== "PostTranslateModify")) {
  Deno.test(`M146 the server answers ${method}`, () =>
    withServer({}, async ({ client }) => {
      const object = lenField(1, new Uint8Array([0x0a, 0x01, 0x61, 0xa8, 0x3f, 0x01]));
      assertEquals(await client.call(method, object), object);
    }));
}

Deno.test("M146 the server answers PostTranslateModify from the snapshot of the moment", async () => {
  let current = emptySnapshot;
  await withServer({ snapshot: () => current }, async ({ client, calls }) => {
    const bytes = request.encode({ clusters: [cluster.encode({ name: OURS, type: 3 })] });
    const type = async () => {
      const { clusters } = response.decode(await client.call("PostTranslateModify", bytes));
      return cluster.decode(clusters![0]!).type;
    };
    assertEquals(await type(), 3);
    current = snapshot;
    assertEquals(await type(), 0);
    assertEquals(calls.map((call) => call.counts.edited), [0, 1]);
    assertEquals(calls.map((call) => call.snapshot), [emptySnapshot.version, snapshot.version]);
  });
});

Deno.test("M146 the server answers a request of 16 MiB", () =>
  withServer({}, async ({ client }) => {
    const secret = new Uint8Array(16 * 1024 * 1024).fill(7);
    const answer = await client.call("PostTranslateModify", lenField(3, secret));
    assertEquals(answer.length, lenField(3, secret).length);
    assertEquals(answer[0], 0x12);
    assertEquals(answer.subarray(1).every((byte, i) => i < 5 || byte === 7), true);
  }));

Deno.test("M146 the server refuses a request over its limit with RESOURCE_EXHAUSTED and lives on", () =>
  withServer({ maxMessageBytes: 1024 * 1024 }, async ({ client, server }) => {
    const big = lenField(3, new Uint8Array(1024 * 1024));
    for (let i = 0; i < 3; i++) {
      const error = await client.failure("PostTranslateModify", big);
      assertEquals(error.code, status.RESOURCE_EXHAUSTED);
    }
    const small = lenField(3, new Uint8Array(1000_000));
    assertEquals((await client.call("PostTranslateModify", small)).length, small.length);
    assertEquals(server.stats.get("PostTranslateModify")?.calls, 1);
  }));

Deno.test("M146 the server refuses a response over its limit with RESOURCE_EXHAUSTED", () =>
  withServer({ maxMessageBytes: 200 }, async ({ client }) => {
    const bytes = request.encode({ clusters: [cluster.encode({ name: OURS, type: 3 })] });
    const error = await client.failure("PostTranslateModify", bytes);
    assertEquals(error.code, status.RESOURCE_EXHAUSTED);
  }));

Deno.test("M146 the server answers INTERNAL with what is wrong, and lives on", () =>
  withServer({}, async ({ client, calls, errors, server }) => {
    const error = await client.failure("PostRouteModify", new Uint8Array([0x0a, 0x7f]));
    assertEquals(error.code, status.INTERNAL);
    assertEquals(
      error.details,
      "PostRouteModify: malformed protobuf message: field runs past the end at byte 0",
    );
    assertEquals(calls[0]?.error?.name, "MalformedMessageError");
    assertEquals(errors, ["hook failed"]);
    await client.call("PostRouteModify", lenField(1, new Uint8Array()));
    const stats = server.stats.get("PostRouteModify")!;
    assertEquals([stats.calls, stats.failures], [2, 1]);
  }));

Deno.test("M146 the server answers INTERNAL when the snapshot cannot be read", () =>
  withServer({
    snapshot: () => {
      throw new Error("no snapshot yet");
    },
  }, async ({ client }) => {
    const error = await client.failure("PostTranslateModify", new Uint8Array());
    assertEquals([error.code, error.details], [
      status.INTERNAL,
      "PostTranslateModify: no snapshot yet",
    ]);
  }));

Deno.test("the server answers also when the listener to its calls fails", () =>
  withServer({
    onCall: () => {
      throw new Error("metrics broke");
    },
  }, async ({ client, errors }) => {
    assertEquals((await client.call("PostTranslateModify", new Uint8Array())).length, 0);
    assertEquals(errors, ["onCall failed"]);
  }));

Deno.test("the server answers UNIMPLEMENTED to a method that is no hook", () =>
  withServer({}, async ({ client }) => {
    const error = await client.failure("PostNothingModify", new Uint8Array());
    assertEquals(error.code, status.UNIMPLEMENTED);
  }));

Deno.test("M270 the server counts calls by hook, and says when the last one was", async () => {
  const clock = new FakeClock(1_800_000_000_000);
  await withServer({ clock }, async ({ client, server }) => {
    assertEquals(server.stats.get("PostTranslateModify")?.lastCallAt, undefined);
    for (let i = 0; i < 3; i++) await client.call("PostTranslateModify", new Uint8Array());
    const stats = server.stats.get("PostTranslateModify")!;
    assertEquals([stats.calls, stats.failures, stats.lastCallAt], [3, 0, 1_800_000_000_000]);
    assert(stats.durationMsSum >= stats.durationMsLast && stats.durationMsLast >= 0);
    assertEquals(server.stats.get("PostRouteModify")?.calls, 0);
  });
});

Deno.test("a call that runs when the server stops is answered", async () => {
  let stopped: Promise<void> | undefined;
  const clock = new FakeClock();
  const options = {
    clock,
    snapshot: () => {
      stopped = running?.stop(10_000);
      return snapshot;
    },
  };
  let running: ExtensionServer | undefined;
  await withServer(options, async ({ client, server, port }) => {
    running = server;
    const bytes = lenField(3, new Uint8Array(1_000_000).fill(9));
    const answer = await client.call("PostTranslateModify", bytes);
    assertEquals(answer.length, bytes.length);
    client.close();
    await stopped;
    assertEquals(clock.pending, 0);
    const late = new TestClient(port);
    assertEquals((await late.failure("PostTranslateModify", bytes)).code, status.UNAVAILABLE);
    late.close();
  });
});

Deno.test("stop waits for a call whose request is still under way", () =>
  withServer({}, async ({ server, port, client, calls }) => {
    const half = await beginCall(port, lenField(3, new Uint8Array(20_000)));
    const stopped = server.stop(60_000);
    await half.goaway;
    const error = await client.failure("PostTranslateModify", new Uint8Array());
    assertEquals(error.code, status.UNAVAILABLE);
    await half.finish();
    assertEquals(await half.end, "answered");
    half.close();
    await stopped;
    assertEquals(calls.length, 1);
  }));

Deno.test("stop cuts a call that does not end within the grace", async () => {
  const clock = new FakeClock();
  await withServer({ clock }, async ({ server, port, calls }) => {
    const half = await beginCall(port, lenField(3, new Uint8Array(20_000)));
    const stopped = server.stop(5_000);
    await half.goaway;
    clock.advance(5_000);
    assert(await half.end !== "answered");
    await stopped;
    half.close();
    assertEquals(calls.length, 0);
  });
});

Deno.test("stop of a server that never started, or that has stopped, resolves", async () => {
  const server = new ExtensionServer({
    snapshot: () => snapshot,
    clock: systemClock,
    log: { info: () => {}, error: () => {} },
  });
  await server.stop(1_000);
  await server.stop(1_000);
});

Deno.test("start says which address it cannot have", () =>
  withServer({}, async ({ port }) => {
    const other = new ExtensionServer({
      snapshot: () => snapshot,
      clock: systemClock,
      log: { info: () => {}, error: () => {} },
    });
    const error = await assertRejects(() => other.start(`127.0.0.1:${port}`), ListenError);
    assert(error.message.includes(`127.0.0.1:${port}`));
    assert(error.cause instanceof Error);
    await other.stop(0);
  }));

Deno.test("stop ends after its grace although a connection never says a word", async () => {
  const clock = new FakeClock();
  const log = { info: () => {}, error: () => {} };
  const server = new ExtensionServer({ snapshot: () => emptySnapshot, clock, log });
  const silentPeer = await Deno.connect({ port: await server.start("127.0.0.1:0") });
  try {
    const stopped = server.stop(10_000);
    clock.advance(10_000);
    await stopped;
  } finally {
    silentPeer.close();
  }
});

Deno.test("a call that comes with a revision of the future gets UNAVAILABLE, and is told of", () => {
  let behind: string | undefined = "not here yet";
  return withServer({ behind: () => behind }, async ({ client, calls, errors }) => {
    const bytes = request.encode({ clusters: [] });
    const failure = await client.failure("PostTranslateModify", bytes);
    assertEquals(failure.code, status.UNAVAILABLE);
    assertEquals(failure.details, "PostTranslateModify: not here yet");
    assertEquals(calls[0]?.error?.message, "not here yet");
    assertEquals(errors, []);
    behind = undefined;
    await client.call("PostTranslateModify", bytes);
  });
});
