import { assert, assertEquals, assertThrows } from "@std/assert";
import type { KubeObject } from "../../core/object.ts";
import { ApiError } from "./errors.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";
import { BUILTIN_TYPES, type ServedType } from "./types.ts";

function labelled(labels: Record<string, string>): KubeObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "apps", labels } };
}

const SECRETS = BUILTIN_TYPES.find((type) => type.kind === "Secret") as ServedType;

Deno.test("label selectors match as Kubernetes documents them", () => {
  const object = labelled({ app: "web", tier: "front", "x.io/n": "5" });
  const cases: Record<string, boolean> = {
    "": true,
    "app=web": true,
    "app==web": true,
    "app = web": true,
    "app=db": false,
    "app!=db": true,
    "none!=db": true,
    "app!=web": false,
    "app": true,
    "none": false,
    "!none": true,
    "!app": false,
    "app in (web, db)": true,
    "app in (db)": false,
    "none in (db)": false,
    "app notin (db)": true,
    "app notin (web)": false,
    "none notin (web)": true,
    "app in (web,db),tier=front": true,
    "tier=front,app notin (web,db)": false,
    "x.io/n>4": true,
    "x.io/n<5": false,
    "app>1": false,
    "none=": false,
  };
  for (const [text, expected] of Object.entries(cases)) {
    assertEquals(labelSelector(text)(object), expected, text);
  }
});

Deno.test("a label selector that can't be parsed is a bad request", () => {
  for (const text of ["a=b=c", "in (a)", "a in b", "a b"]) {
    assertEquals(assertThrows(() => labelSelector(text), ApiError).code, 400, text);
  }
});

Deno.test("field selectors match names, namespaces, and what the kind allows", () => {
  const object = { ...labelled({}), type: "Opaque" };
  const cases: Record<string, boolean> = {
    "": true,
    "metadata.name=a": true,
    "metadata.name==a,metadata.namespace=apps": true,
    "metadata.name!=a": false,
    "metadata.namespace!=default": true,
    "type=Opaque": true,
  };
  for (const [text, expected] of Object.entries(cases)) {
    assertEquals(fieldSelector(text, SECRETS)(object), expected, text);
  }
});

Deno.test("a field that can't be selected by is a bad request", () => {
  const error = assertThrows(() => fieldSelector("data.x=1", SECRETS), ApiError);
  assertEquals(error.code, 400);
  assert(error.message.startsWith('"data.x" is not a known field selector'), error.message);
});
