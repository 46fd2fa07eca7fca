import { assert, assertEquals } from "@std/assert";
import { KINDS } from "../../api/registry.ts";
import { CONTROLLERS, TYPES_READ } from "../../controllers/registry.ts";
import { envoyGatewayConfig } from "../../extension/registry.ts";
import { clusterRoles, operatorRules, ownRole, type PolicyRule } from "./rbac.ts";

const READ_VERBS = ["get", "list", "watch"];

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly PolicyRule[];
}

const ROLES = ([...clusterRoles(), ...ownRole()] as Role[]).filter(({ rules }) => rules);

function verbsOf(group: string, resource: string): readonly string[] {
  return operatorRules().find((rule) =>
    rule.apiGroups.includes(group) && rule.resources.includes(resource)
  )?.verbs ?? [];
}

Deno.test("M236 no rule has a wildcard, or lets an account get more than it has", () => {
  assertEquals(ROLES.length, 3);
  for (const { metadata, rules = [] } of ROLES) {
    for (const { apiGroups, resources, verbs } of rules) {
      const words = [...apiGroups, ...resources, ...verbs];
      assert(!words.some((word) => word.includes("*")), `${metadata.name}: ${words.join(" ")}`);
      assert(resources.length > 0 && verbs.length > 0, `${metadata.name} has an empty rule`);
      for (const verb of ["escalate", "bind", "impersonate", "deletecollection"]) {
        assert(!verbs.includes(verb), `${metadata.name} may ${verb} ${resources}`);
      }
    }
  }
});

Deno.test("M236 what no controller makes or patches is only read", () => {
  const written = new Set(CONTROLLERS.flatMap(({ type, makes, patches = [] }) => [
    type,
    ...makes,
    ...patches,
  ]));
  const onlyRead = TYPES_READ.filter((type) => !written.has(type));
  assert(onlyRead.some(({ plural }) => plural === "httproutes"));
  for (const { group, plural } of onlyRead) {
    const verbs = verbsOf(group, plural);
    assert(verbs.every((verb) => READ_VERBS.includes(verb)), `${plural}: ${verbs}`);
  }
});

Deno.test("M236 Envoy Gateway may read every kind that its configuration names", () => {
  const config = envoyGatewayConfig({ hostname: "h", port: 1 });
  const named = [config.backendResources, config.policyResources]
    .flatMap((resources) => resources as { kind: string }[]);
  const role = ROLES.find(({ metadata }) => metadata.name.endsWith("-envoy-gateway"));
  for (const { kind } of named) {
    const plural = KINDS.find((known) => known.kind === kind)?.plural ?? kind;
    const rule = role?.rules?.find(({ resources }) => resources.includes(plural));
    assertEquals(rule?.verbs, READ_VERBS, kind);
  }
});

Deno.test("M236 of kinds that no controller acts on yet, the status alone is written", () => {
  const unsupported = CONTROLLERS.filter(({ onlyStatus }) => onlyStatus);
  assertEquals(unsupported.length, 4);
  for (const { type: { group, plural } } of unsupported) {
    assertEquals(verbsOf(group, plural), ["list", "watch"]);
    assertEquals(verbsOf(group, `${plural}/status`), ["patch"]);
    assertEquals(verbsOf(group, `${plural}/finalizers`), []);
  }
});
