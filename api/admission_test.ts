import { assert, assertEquals } from "@std/assert";
import { CASES, NAMES, objectOf, UPDATE_CASES } from "../tests/crds/cases.ts";
import { admit } from "./admission.ts";
import { NAME_RULE, objectSchema } from "./crd.ts";
import { KINDS } from "./registry.ts";
import { exampleObject } from "./reference.ts";
import type { StructuralSchema } from "./structural.ts";
import type { KubeObject } from "../core/object.ts";

function errorsOf(object: KubeObject, old?: KubeObject): readonly string[] {
  const admission = admit(object, old);
  return "errors" in admission ? admission.errors : [];
}

for (const { asks, kind, accepted, refused, schemaSays } of CASES) {
  Deno.test(`admit() of ${kind} asks for: ${asks}`, () => {
    for (const spec of accepted) assertEquals(errorsOf(objectOf(kind, spec)), []);
    for (const spec of refused) {
      const errors = errorsOf(objectOf(kind, spec));
      const said = errors.some((error) => schemaSays !== undefined || error.endsWith(asks));
      assert(said, `${JSON.stringify(spec)}: ${JSON.stringify(errors)}`);
    }
  });
}

for (const { asks, kind, before, accepted, refused } of UPDATE_CASES) {
  Deno.test(`admit() of an update of ${kind} asks for: ${asks}`, () => {
    const old = objectOf(kind, before);
    assertEquals(errorsOf(objectOf(kind, accepted), old), []);
    assertEquals(errorsOf(objectOf(kind, refused), old), [`spec.tailnet: ${asks}`]);
  });
}

Deno.test("admit() refuses names that are no DNS-1035 labels, for every kind", () => {
  for (const { kind, example } of KINDS) {
    const spec = example as Record<string, unknown>;
    for (const name of NAMES.accepted) assertEquals(errorsOf(objectOf(kind, spec, name)), []);
    for (const name of NAMES.refused) {
      assertEquals(errorsOf(objectOf(kind, spec, name)), [NAME_RULE.message]);
    }
  }
});

Deno.test("admit() fills in defaults and drops unknown fields", () => {
  const admission = admit(objectOf("TailscaleTailnet", { oauthSecretName: "s", colour: "red" }));
  assert("object" in admission);
  assertEquals(admission.object.spec, {
    tailnet: "-",
    oauthSecretName: "s",
    allowedNamespaces: { from: "All" },
    apiURL: "https://api.tailscale.com",
    loginURL: "https://controlplane.tailscale.com",
  });
});

Deno.test("admit() lets objects of other kinds pass as they are", () => {
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a.b" }, data: {} };
  assertEquals(admit(object), { object });
});

Deno.test("admit() says where in the object something is wrong", () => {
  const [error] = errorsOf(objectOf("TailscaleEndpoints", { tailnet: "t", ports: [{ port: 0 }] }));
  assert(error?.startsWith("spec.ports[0].port: "), error);
});

Deno.test("the examples of all kinds are admitted", () => {
  for (const kind of KINDS) {
    assertEquals(errorsOf(exampleObject(kind)), []);
  }
});

Deno.test("every rule of every CRD has a case that it accepts and one that it refuses", () => {
  const shown = new Set([
    ...UPDATE_CASES.map(({ kind, asks }) => `${kind}: ${asks}`),
    ...CASES.filter((c) => c.accepted.length > 0 && c.refused.length > 0)
      .map(({ kind, asks }) => `${kind}: ${asks}`),
  ]);
  for (const kind of KINDS) {
    const messages = [...messagesOf(objectSchema(kind))].map((text) => `${kind.kind}: ${text}`);
    const missing = messages.filter((message) =>
      !message.endsWith(NAME_RULE.message) && !shown.has(message)
    );
    assertEquals(missing, []);
  }
});

function* messagesOf(schema: StructuralSchema): Generator<string> {
  for (const { message } of schema["x-kubernetes-validations"] ?? []) yield message;
  for (const child of Object.values(schema.properties ?? {})) yield* messagesOf(child);
  if (schema.items) yield* messagesOf(schema.items);
}
