import { assertEquals } from "@std/assert";
import { generate } from "../tools/generate_proto.ts";
import { codec } from "./codec.ts";

Deno.test("the generated files are those of the .proto files", async () => {
  for (const [path, text] of generate()) {
    assertEquals(await Deno.readTextFile(new URL(path, import.meta.url)), text, path);
  }
});

Deno.test("codec keeps fields that the .proto files do not declare", () => {
  const address = codec("envoy.config.core.v3.SocketAddress");
  const bytes = new Uint8Array([0x12, 0x01, 0x61, 0x30, 0x01, 0x9a, 0x06, 0x01, 0x62]);
  assertEquals(new Uint8Array(address.encode(address.decode(bytes))), bytes);
});

Deno.test("codec wraps a message with the type URL that Envoy knows", () => {
  const any = codec("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer").toAny({});
  assertEquals(
    any.type_url,
    "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer",
  );
});

Deno.test("codec encodes with Envoy's field numbers", () => {
  const cluster = codec("envoy.config.cluster.v3.Cluster");
  const bytes = cluster.encode({ name: "a", type: 0, loadAssignment: { clusterName: "a" } });
  assertEquals(new Uint8Array(bytes).toHex(), "0a01611000" + "8a02030a0161");
});
