import { assert, assertEquals } from "@std/assert";
import { admit } from "../../api/admission.ts";
import { KINDS } from "../../api/registry.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { CONTROLLERS } from "../../controllers/registry.ts";
import { exampleFolders, exampleObjects } from "./examples.ts";

Deno.test("M252 M253 M254 every manifest of the examples is admitted", async () => {
  const folders = await exampleFolders();
  for (const name of ["7-auto-provisioned-service", "8-auto-cleanup-demo"]) {
    assert(folders.has(name), `no folder ${name}`);
  }
  for (const { file, object } of [...folders.values()].flat()) {
    const admission = admit(object);
    assert("object" in admission, `${file}: ${JSON.stringify(admission)}`);
  }
});

Deno.test("every kind that users write has an example", async () => {
  const shown = new Set((await exampleObjects()).map(({ kind }) => kind));
  const missing = KINDS.map(({ kind }) => kind).filter((kind) => !shown.has(kind));
  assertEquals(missing, [TailscaleGatewayRevision.kind]);
});

Deno.test("an example of what is not supported yet says so", async () => {
  const unsupported = CONTROLLERS.filter(({ onlyStatus }) => onlyStatus)
    .map(({ type }) => type.kind);
  for (const { file, object } of [...(await exampleFolders()).values()].flat()) {
    if (!unsupported.includes(object.kind)) continue;
    const says = (await Deno.readTextFile(file)).includes("# Not supported yet:");
    assert(says, `${file} has a ${object.kind}, and no comment that it is not supported yet`);
  }
});

Deno.test("examples name tailnets and namespaces that examples make", async () => {
  const objects = await exampleObjects();
  const named = (kind: string) =>
    objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
  const tailnets = named("TailscaleTailnet");
  const namespaces = named("Namespace");
  for (const { kind, metadata, ...object } of objects) {
    const { spec = {} } = object as { spec?: { tailnet?: unknown } };
    const { name, namespace } = metadata;
    assert(namespace === undefined || namespaces.includes(namespace), `${kind} ${name}`);
    if (kind === "TailscaleTailnet" || spec.tailnet === undefined) continue;
    assert(tailnets.includes(String(spec.tailnet)), `${kind} ${name}: ${spec.tailnet}`);
  }
});
