/**
 * Holds the CRDs to the real API server: it takes them, each rule acts, defaults
 * are filled in, and all of that as `admit` says without a cluster.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { admit } from "../../api/admission.ts";
import { NAME_RULE, objectSchema } from "../../api/crd.ts";
import { crdYaml } from "../../api/generated.ts";
import { exampleObject } from "../../api/reference.ts";
import { KINDS } from "../../api/registry.ts";
import type { KubeObject } from "../../core/object.ts";
import { CASES, type Fields, NAMES, objectOf, UPDATE_CASES } from "./cases.ts";
import { exampleObjects } from "./examples.ts";
import { installCrds, type Kubectl, manifest, must } from "./kubectl.ts";
import { survivesUpgrade } from "./upgrade.ts";
import { WHOLE } from "./whole.ts";

/**
 * Runs the suite as steps of a test. The cluster needs nothing but its API server;
 * the CRDs stay installed.
 */
export async function crdSuite(t: Deno.TestContext, { kubectl }: { kubectl: Kubectl }) {
  await t.step(
    "objects that were stored under the first release's CRDs stay as they are",
    () => survivesUpgrade(kubectl),
  );
  await t.step("the API server takes the CRDs", () => install(kubectl));
  for (const item of CASES) {
    const { asks, kind, accepted, refused, schemaSays } = item;
    await t.step(`${kind} asks for: ${asks}`, async () => {
      const objects = (specs: readonly Fields[]) =>
        specs.map((spec, i) => objectOf(kind, spec, `example-${i}`));
      await accepts(kubectl, objects(accepted));
      await refuses(kubectl, objects(refused), schemaSays ?? asks);
    });
  }
  for (const item of UPDATE_CASES) {
    await t.step(`an update of ${item.kind} asks for: ${item.asks}`, () => updates(kubectl, item));
  }
  await t.step("every kind asks for names that are DNS-1035 labels", () => names(kubectl));
  await t.step(
    "the examples of the reference are accepted",
    () => accepts(kubectl, KINDS.map(exampleObject)),
  );
  await t.step("whole objects are stored with every field", () => wholeObjects(kubectl));
  await t.step("every manifest in examples/ is applied", () => examples(kubectl));
  await t.step(
    "kubectl get shows every kind by its short name, in its columns",
    () => columns(kubectl),
  );
  await t.step("status is a subresource, and does not touch the generation", () => status(kubectl));
  await t.step("kubectl explain tells what every kind and field is", () => texts(kubectl));
}

async function install(kubectl: Kubectl): Promise<void> {
  const crds = await installCrds(kubectl, KINDS.map(crdYaml));
  const conditions = await must(
    kubectl(["get", ...crds, "-o", "jsonpath={.items[*].status.conditions[*].type}"]),
  );
  assert(!conditions.includes("NonStructuralSchema"), conditions);
}

// All objects in one call: kubectl's start is most of the time.
const DRY_RUN = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];

/** The API server accepts the objects, and fills in what `admit` fills in. */
async function accepts(kubectl: Kubectl, objects: readonly KubeObject[]): Promise<void> {
  const output = ["-o", 'jsonpath={.spec}{"\\n"}'];
  const stdout = await must(kubectl([...DRY_RUN, ...output], manifest(objects)));
  const specs = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(specs, objects.map((object) => (admitted(object) as KubeObject & Fields).spec));
}

function admitted(object: KubeObject): KubeObject {
  const admission = admit(object);
  assert("object" in admission, JSON.stringify(admission));
  return admission.object;
}

/** The API server refuses each of the objects, and says why. */
async function refuses(
  kubectl: Kubectl,
  objects: readonly KubeObject[],
  says: string | RegExp,
): Promise<void> {
  const { stdout, stderr } = await kubectl([...DRY_RUN, "-o", "name"], manifest(objects));
  assertEquals(stdout, "", "accepted");
  // A rule that cannot be evaluated refuses too, but tells its author's mistake.
  assert(!/no such|evaluation error|rule error/.test(stderr), stderr);
  for (const object of objects) {
    const { name } = object.metadata;
    const answer = stderr.split(/^(?=The |Error)/m).find((part) => part.includes(`"${name}"`));
    const said = typeof says === "string" ? answer?.includes(says) : says.test(answer ?? "");
    assert(said, `${JSON.stringify(object)}: ${answer}`);
  }
}

async function updates(kubectl: Kubectl, item: typeof UPDATE_CASES[number]): Promise<void> {
  const { kind, before, accepted, refused, asks } = item;
  const apply = (spec: Fields) =>
    kubectl(["apply", "-f", "-"], JSON.stringify(objectOf(kind, spec, "updated")));
  await must(apply(before));
  try {
    await must(apply(accepted));
    const { code, stderr } = await apply(refused);
    assertEquals(code, 1);
    assertStringIncludes(stderr, asks);
  } finally {
    await must(kubectl(["delete", kind, "updated", "-n", "default"]));
  }
}

async function names(kubectl: Kubectl): Promise<void> {
  for (const { kind, example } of KINDS) {
    const named = (name: string) => objectOf(kind, example as Fields, name);
    await accepts(kubectl, NAMES.accepted.map(named));
    await refuses(kubectl, NAMES.refused.map(named), NAME_RULE.message);
  }
}

async function status(kubectl: Kubectl): Promise<void> {
  const name = "with-status";
  const object = objectOf("TailscaleTailnet", { oauthSecretName: "s" }, name);
  const readyCondition = {
    type: "Ready",
    status: "True",
    reason: "Ready",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: 1,
  };
  const withStatus = { ...object, status: { conditions: [readyCondition], deviceCount: 3 } };
  await must(kubectl(["create", "-f", "-"], JSON.stringify(withStatus)));
  try {
    const get = async () => JSON.parse(await must(kubectl(["get", "tstn", name, "-o", "json"])));
    assertEquals((await get()).status, undefined);
    const patch = JSON.stringify({ status: withStatus.status, spec: { oauthSecretName: "other" } });
    const merge = ["--type=merge", "--subresource=status", "-p", patch];
    await must(kubectl(["patch", "tstn", name, ...merge]));
    const stored = await get();
    assertEquals(stored.status, withStatus.status);
    assertEquals(stored.spec.oauthSecretName, "s");
    assertEquals(stored.metadata.generation, 1);
    const table = await must(kubectl(["get", "tailscale", "--no-headers"]));
    assert(/with-status +True +Ready +3 /.test(table), table);
  } finally {
    await must(kubectl(["delete", "tstn", name]));
  }
}

/** Namespaces are made, since what is in them is refused without; all else is a dry run. */
async function examples(kubectl: Kubectl): Promise<void> {
  const objects = await exampleObjects();
  const namespaces = objects.filter(({ kind }) => kind === "Namespace");
  await must(kubectl(["apply", "-f", "-"], manifest(namespaces)));
  const dryRun = ["apply", "--server-side", "--dry-run=server", "--validate=strict"];
  const stdout = await must(kubectl([...dryRun, "-o", "name", "-f", "-"], manifest(objects)));
  assertEquals(stdout.trim().split("\n").length, objects.length);
}

async function wholeObjects(kubectl: Kubectl): Promise<void> {
  for (const [kind, { status, ...object }] of Object.entries(WHOLE)) {
    const { name } = object.metadata;
    const one = [kind, name, "-n", "default"];
    const strict = ["create", "--validate=strict", "-f", "-"];
    await must(kubectl(strict, JSON.stringify(object)));
    try {
      const patch = ["--type=merge", "--subresource=status", "-p", JSON.stringify({ status })];
      await must(kubectl(["patch", ...one, ...patch]));
      const stored = JSON.parse(await must(kubectl(["get", ...one, "-o", "json"])));
      assertEquals({ spec: stored.spec, status: stored.status }, { spec: object.spec, status });
    } finally {
      await must(kubectl(["delete", ...one]));
    }
  }
}

async function columns(kubectl: Kubectl): Promise<void> {
  const objects = KINDS.map(exampleObject);
  await must(kubectl(["create", "-f", "-"], manifest(objects)));
  try {
    for (const { plural, shortNames, columns } of KINDS) {
      const table = await must(kubectl(["get", shortNames[0] ?? plural, "-n", "default"]));
      const shown = columns.filter(({ wide }) => !wide).map(({ name }) => name.toUpperCase());
      assertEquals(table.split("\n")[0]?.trim().split(/ +/), ["NAME", ...shown]);
    }
  } finally {
    await must(kubectl(["delete", "-f", "-"], manifest(objects)));
  }
}

async function texts(kubectl: Kubectl): Promise<void> {
  const explain = async (path: string) =>
    (await must(kubectl(["explain", path]))).replaceAll(/\s+/g, " ");
  for (const kind of KINDS) {
    const about = await explain(kind.plural);
    assertStringIncludes(about, `KIND: ${kind.kind}`);
    assertStringIncludes(about, kind.description);
    for (const part of ["spec", "status"]) {
      const text = await explain(`${kind.plural}.${part}`);
      const fields = objectSchema(kind).properties?.[part]?.properties ?? {};
      for (const { description = "?" } of Object.values(fields)) {
        assertStringIncludes(text, description.replaceAll(/\s+/g, " "));
      }
    }
  }
  assertStringIncludes(
    await explain("tsep.spec.endpoints.externalTarget"),
    "that Envoy reaches itself",
  );
}
