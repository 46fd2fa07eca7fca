import { assert, assertEquals } from "@std/assert";
import { decodeBase64 } from "../../core/base64.ts";
import type { NetworkPolicy, Role, RoleBinding, Secret, Service } from "../../api/core_objects.ts";
import { configSecret, proxyRoleRules, proxySetObjects } from "./objects.ts";
import { tailscaledConfig } from "./tailscaled_config.ts";
import { proxySet } from "./testing.ts";

const objects = (rest: Parameters<typeof proxySet>[0] = {}) =>
  proxySetObjects(proxySet(rest)).map(({ object }) => object);

function only<T>(kind: string, rest: Parameters<typeof proxySet>[0] = {}): T {
  const [found, ...others] = objects(rest).filter((object) => object.kind === kind);
  assert(found && others.length === 0, kind);
  return found as unknown as T;
}

Deno.test("M69 M71 M72 M102 whatever a pod needs is made before the StatefulSet", () => {
  assertEquals(objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`), [
    "ServiceAccount intranet-egress",
    "Role intranet-egress",
    "RoleBinding intranet-egress",
    "NetworkPolicy intranet-egress",
    "Service intranet-egress-svc",
    "Secret intranet-egress-0",
    "Secret intranet-egress-1",
    "StatefulSet intranet-egress",
  ]);
});

Deno.test("M100 M105 every object is labelled with tailnet and parent, and owned by it", () => {
  for (const { kind, metadata } of objects()) {
    const { labels = {}, ownerReferences = [], namespace } = metadata;
    assertEquals(namespace, "apps");
    assertEquals(
      [
        labels["app.kubernetes.io/managed-by"],
        labels["gateway.tailscale.com/tailnet"],
        labels["gateway.tailscale.com/parent-kind"],
        labels["gateway.tailscale.com/parent-namespace"],
        labels["gateway.tailscale.com/parent-name"],
      ],
      ["tailscale-gateway", "corp", "TailscaleEndpoints", "apps", "intranet"],
      kind,
    );
    assertEquals(ownerReferences.map(({ uid }) => uid), ["uid-of-intranet"]);
  }
});

Deno.test("M102 proxies may touch the Secrets of their own StatefulSet, and list none", () => {
  const { rules } = only<Role>("Role");
  assertEquals(rules, [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [
        "intranet-egress-0",
        "intranet-egress-0-config",
        "intranet-egress-1",
        "intranet-egress-1-config",
      ],
      verbs: ["get", "update", "patch"],
    },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch", "get"] },
  ]);
  const { roleRef, subjects } = only<RoleBinding>("RoleBinding");
  assertEquals([roleRef.name, subjects?.[0]?.name], ["intranet-egress", "intranet-egress"]);
});

Deno.test("M102 without replicas there is no rule for Secrets: one without names would mean all", () => {
  assertEquals(proxyRoleRules([]).flatMap(({ resources }) => resources), ["events"]);
  assertEquals(only<Role>("Role", { replicas: 0 }).rules.length, 1);
});

Deno.test("M68 M104 the egress Service leads to the proxies' CONNECT port", () => {
  const { spec } = only<Service>("Service");
  assertEquals([spec?.type, spec?.selector], ["ClusterIP", {
    "app.kubernetes.io/name": "tailscale-proxy",
    "app.kubernetes.io/instance": "intranet-egress",
  }]);
  assertEquals(spec?.ports, [
    { name: "connect", port: 1055, targetPort: "connect", protocol: "TCP" },
  ]);
});

Deno.test("M233 only Envoys that Envoy Gateway runs are admitted to the CONNECT port", () => {
  const { spec } = only<NetworkPolicy>("NetworkPolicy");
  assertEquals(spec.policyTypes, ["Ingress"]);
  assertEquals(spec.ingress?.length, 1);
  const [rule] = spec.ingress ?? [];
  assertEquals(rule?.ports, [{ port: 1055, protocol: "TCP" }]);
  assertEquals(rule?.from?.map(({ podSelector }) => podSelector?.matchLabels), [{
    "app.kubernetes.io/managed-by": "envoy-gateway",
    "app.kubernetes.io/component": "proxy",
  }]);
});

Deno.test("M71 a state Secret is made without data: that is the proxy's", () => {
  const state = objects().find(({ metadata }) => metadata.name === "intranet-egress-0");
  assertEquals("data" in (state ?? {}), false);
});

Deno.test("M73 M85 a config Secret holds one version of the file, and the key's id beside it", () => {
  const set = proxySet();
  const key = { id: "k9", expires: "2026-05-30T12:00:00Z" };
  const made: Secret = configSecret(set, 1, {
    config: tailscaledConfig(set, 1, "tskey-auth-x"),
    key,
  });
  assertEquals(made.metadata.name, "intranet-egress-1-config");
  assertEquals(Object.keys(made.data ?? {}), ["cap-106.hujson"]);
  assertEquals(made.metadata.annotations, {
    "gateway.tailscale.com/auth-key-id": "k9",
    "gateway.tailscale.com/auth-key-expires": "2026-05-30T12:00:00Z",
  });
  const file = decodeBase64(made.data?.["cap-106.hujson"] ?? "");
  assertEquals(JSON.parse(file ?? "").AuthKey, "tskey-auth-x");
});
