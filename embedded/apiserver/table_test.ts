import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import { jsonPathValues } from "./json_path.ts";
import { ageText } from "./durations.ts";
import { EmbeddedApiServer } from "./server.ts";
import type { ServedType } from "./types.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

const WIDGET: ServedType = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
  columns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Hosts", type: "string", jsonPath: ".spec.hosts", wide: true },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

function rig() {
  const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
  const server = new EmbeddedApiServer({ clock, types: [WIDGET] });
  const ask = (path: string, accept = TABLE, body?: unknown) =>
    server.handle(
      new Request(`http://api${path}`, {
        headers: { accept, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  // deno-lint-ignore no-explicit-any
  const table = async (path: string): Promise<any> => await (await ask(path)).json();
  return { clock, ask, table };
}

const CONDITIONS = [{ type: "Accepted", status: "False" }, { type: "Ready", status: "True" }];
const BODY = { metadata: { name: "a" }, spec: { size: 3, hosts: ["x", "y"] } };

Deno.test("a list as a Table has the kind's printer columns, a row for each object and its age", async () => {
  const { clock, ask, table } = rig();
  await (await ask(WIDGETS, "application/json", BODY)).body?.cancel();
  await clock.advance(90_000);
  const { kind, apiVersion, metadata, columnDefinitions, rows } = await table(WIDGETS);
  assertEquals([kind, apiVersion], ["Table", "meta.k8s.io/v1"]);
  assert(Number(metadata.resourceVersion) > 0);
  assertEquals(
    columnDefinitions.map((c: { name: string; priority: number }) => [c.name, c.priority]),
    [["Name", 0], ["Ready", 0], ["Size", 0], ["Hosts", 1], ["Age", 0]],
  );
  assertEquals(rows.map(({ cells }: { cells: unknown }) => cells), [
    ["a", "", 3, '["x","y"]', "90s"],
  ]);
  assertEquals(rows[0].object.kind, "PartialObjectMetadata");
  assertEquals(rows[0].object.metadata.namespace, "default");
});

Deno.test("one object as a Table, with the whole object or with none, as includeObject says", async () => {
  const { ask, table } = rig();
  await (await ask(WIDGETS, "application/json", BODY)).body?.cancel();
  const whole = await table(`${WIDGETS}/a?includeObject=Object`);
  assertEquals(whole.rows[0].object.spec.size, 3);
  const none = await table(`${WIDGETS}/a?includeObject=None`);
  assertEquals(Object.keys(none.rows[0]), ["cells"]);
});

Deno.test("a watch that asks for Tables gets each change as a row", async () => {
  const { ask } = rig();
  const response = await ask(`${WIDGETS}?watch=1`);
  await (await ask(WIDGETS, "application/json", BODY)).body?.cancel();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const { type, object } = JSON.parse((await reader.read()).value ?? "");
  assertEquals([type, object.kind, object.rows[0].cells[0]], ["ADDED", "Table", "a"]);
  await reader.cancel();
});

Deno.test("built-in kinds have columns too, and who asks for plain JSON gets it", async () => {
  const { ask, table } = rig();
  const { rows } = await table("/api/v1/namespaces/default");
  assertEquals(rows[0].cells, ["default", "Active", "0s"]);
  const plain = await ask("/api/v1/namespaces/default", "application/json");
  assertEquals((await plain.json()).kind, "Namespace");
});

Deno.test("jsonPathValues() follows names, indexes, [*] and filters, and refuses what it does not know", () => {
  const object = { a: [{ b: 1 }, { b: 2 }], status: { conditions: CONDITIONS }, "x.y": "z" };
  assertEquals(jsonPathValues(".a[1].b", object), [2]);
  assertEquals(jsonPathValues(".a[*].b", object), [1, 2]);
  assertEquals(jsonPathValues('.status.conditions[?(@.type=="Ready")].status', object), ["True"]);
  assertEquals(jsonPathValues("['x.y']", object), ["z"]);
  assertEquals(jsonPathValues(".a.b.c", object), []);
  assertThrows(() => jsonPathValues(".a[?(@.b>1)]", object), SyntaxError);
});

Deno.test("ageText() rounds as kubectl does", () => {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const age = (seconds: number) => ageText(new Date(now - seconds * 1000).toISOString(), now);
  const [m, h, d] = [60, 3600, 86_400];
  assertEquals(
    [119, 2 * m, 5 * m + 30, 30 * m, 3 * h + 5 * m, 10 * h, 50 * h, 20 * d, 800 * d, 3000 * d].map(
      age,
    ),
    ["119s", "2m", "5m30s", "30m", "3h5m", "10h", "2d2h", "20d", "2y70d", "8y"],
  );
  assertEquals(ageText(undefined, now), "<unknown>");
});
