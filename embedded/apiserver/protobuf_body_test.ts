import { assertEquals } from "@std/assert";
import { decodeProtobuf, PROTOBUF } from "./protobuf_body.ts";
import { EmbeddedApiServer } from "./server.ts";

/** A field of bytes: its number and what it holds; lengths below 128. */
function field(id: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return new Uint8Array([(id << 3) | 2, bytes.length, ...bytes]);
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

/** A body as client-go writes it. */
function body(kind: string, ...raw: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const typeMeta = join(field(1, "v1"), field(2, kind));
  return join(
    new TextEncoder().encode("k8s\0"),
    field(1, typeMeta),
    field(2, join(...raw)),
    field(3, ""),
    field(4, ""),
  );
}

const METADATA = field(
  1,
  join(
    field(1, "a"),
    field(2, ""),
    field(3, ""),
    field(8, ""),
    field(11, join(field(1, "k"), field(2, "v"))),
  ),
);

function post(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  const headers = { "content-type": PROTOBUF };
  return new EmbeddedApiServer().handle(
    new Request(`http://api${path}`, { method: "POST", headers, body: bytes }),
  );
}

Deno.test("what kubectl create makes from its flags is read from protobuf", async () => {
  const response = await post("/api/v1/namespaces", body("Namespace", METADATA, field(2, "")));
  assertEquals(response.status, 201);
  const { metadata, status } = await response.json();
  assertEquals([metadata.name, metadata.labels.k, status.phase], ["a", "v", "Active"]);
});

Deno.test("the values of a Secret stay bytes", () => {
  const entry = join(field(1, "client_secret"), field(2, new Uint8Array([0, 255])));
  assertEquals(decodeProtobuf(body("Secret", METADATA, field(2, entry), field(3, "Opaque"))), {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a", labels: { k: "v" } },
    data: { client_secret: "AP8=" },
    type: "Opaque",
  });
});

Deno.test("another kind in protobuf, or a truncated body, is refused with 415", async () => {
  for (const bytes of [body("Pod", METADATA), body("Namespace", METADATA).subarray(0, 20)]) {
    const response = await post("/api/v1/namespaces", new Uint8Array(bytes));
    assertEquals(response.status, 415);
    await response.body?.cancel();
  }
});
