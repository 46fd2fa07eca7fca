import { assert, assertEquals } from "@std/assert";
import { CONTROLLERS, TYPES_READ } from "../../controllers/registry.ts";
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
