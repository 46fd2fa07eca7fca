import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { emptySnapshot } from "../snapshot.ts";
import { HOOKS } from "../registry.ts";
import { anyMessage, otherThan } from "../testdata/messages.ts";
import { FieldCursor, MalformedMessageError } from "../wire/fields.ts";
import { concat, lenField } from "../wire/splicer.ts";

const ECHOES = HOOKS.filter((hook) => hook.method !== "PostTranslateModify");

/** A context of Kubernetes objects, and of fields that we know nothing of. */
const context = fc.tuple(fc.array(fc.string()), otherThan([3])).map(([objects, rest]) =>
  concat([...objects.map((o) => lenField(1, lenField(1, new TextEncoder().encode(o)))), rest])
);

Deno.test("the hooks beside PostTranslateModify are five", () => {
  assertEquals(ECHOES.length, 5);
});

for (const hook of ECHOES) {
  Deno.test(`M148 ${hook.method} hands back every byte of its object`, () => {
    fc.assert(fc.property(anyMessage, context, otherThan([2]), (object, ctx, later) => {
      const request = concat([lenField(1, object), lenField(2, ctx), later]);
      const { response, facts } = hook.run(emptySnapshot, request);
      assertEquals(response, lenField(1, object));
      assertEquals(facts.revisions, []);
      assertEquals(hook.run(emptySnapshot, concat([lenField(2, ctx), later])).response.length, 0);
    }));
  });

  Deno.test(`M149 M150 ${hook.method} gives an object back that is set and empty, and copies nothing`, () => {
    const empty = lenField(1, new Uint8Array());
    const { response } = hook.run(emptySnapshot, empty);
    assertEquals([...response], [0x0a, 0x00]);
    assertStrictEquals(response.buffer, empty.buffer);
  });

  Deno.test(`${hook.method} refuses what is no protobuf message`, () => {
    assertThrows(
      () => hook.run(emptySnapshot, new Uint8Array([0x0a, 9])),
      MalformedMessageError,
    );
  });

  Deno.test(`${hook.method} echoes what Envoy Gateway 1.9.1 sends`, async () => {
    const file = new URL(`testdata/envoy-gateway-1.9.1/${hook.method}.bin`, import.meta.url);
    const request = await Deno.readFile(file);
    const field = new FieldCursor(request);
    field.next();
    const { response } = hook.run(emptySnapshot, request);
    assertEquals(response, request.subarray(0, field.end));
  });
}
