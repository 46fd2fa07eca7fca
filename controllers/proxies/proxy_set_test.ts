import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { hostnameOf, replicaIndexOf, serviceName, slotsOf, statefulSetName } from "./proxy_set.ts";
import { proxySet } from "./testing.ts";

Deno.test("M67 M68 M70 M72 M73 names are those of the object with the direction behind", () => {
  assertEquals(statefulSetName("web", "egress"), "web-egress");
  assertEquals(statefulSetName("web", "ingress"), "web-ingress");
  assertEquals(serviceName("web-egress"), "web-egress-svc");
});

for (const length of [45, 46, 53, 63]) {
  Deno.test(`M80 an object whose name has ${length} characters has names within every limit`, () => {
    const object = "a".repeat(length);
    const name = statefulSetName(object, "egress");
    assert(name.length <= 52, name);
    assert(name.endsWith("-egress"), name);
    // The label that the StatefulSet controller puts on pods has 11 characters more.
    assert(`${name}-0123456789`.length <= 63);
    assert(serviceName(name).length <= 63);
    assert(`tailscaledconfig-63`.length <= 63);
    assertNotEquals(name, statefulSetName(`${object.slice(0, -1)}b`, "egress"));
  });
}

Deno.test("M80 a name that fits is not touched", () => {
  assertEquals(statefulSetName("a".repeat(45), "egress"), `${"a".repeat(45)}-egress`);
});

Deno.test("the longest hostname fits a DNS label", () => {
  const set = proxySet({ hostnamePrefix: "h".repeat(52), connectionType: "ingress" });
  assertEquals(hostnameOf(set, 63).length, 63);
});

Deno.test("M81 volumes come in eights", () => {
  const slots = [0, 1, 8, 9, 16, 17, 64].map(slotsOf);
  assertEquals(slots, [8, 8, 8, 16, 16, 24, 64]);
});

Deno.test("the index of a replica is read from its Secrets' names, and from no others", () => {
  const index = (name: string) => replicaIndexOf("web-egress", name);
  assertEquals([index("web-egress-3"), index("web-egress-12-config")], [3, 12]);
  for (const name of ["web-egress", "web-egress-", "web-egress-x", "web-egress-1-other", "web-2"]) {
    assertEquals(index(name), undefined, name);
  }
});
