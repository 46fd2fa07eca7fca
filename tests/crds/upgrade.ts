/**
 * Holds newer CRDs to objects that were stored under those of the first release,
 * which `testdata/first-release` has as they were.
 */
import { assert, assertEquals } from "@std/assert";
import { crdYaml } from "../../api/generated.ts";
import { KINDS } from "../../api/registry.ts";
import type { KubeObject } from "../../core/object.ts";
import { objectOf } from "./cases.ts";
import { installCrds, type Kubectl, manifest, must } from "./kubectl.ts";

const FIRST_RELEASE = new URL("testdata/first-release/", import.meta.url);
const GATEWAY = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" };

const ready = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "All is well.",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
};

/** One object of each kind of that release, with as many fields as it could have. */
const STORED: readonly (KubeObject & { status: unknown })[] = [
  {
    ...objectOf("TailscaleTailnet", {
      tailnet: "example.com",
      oauthSecretName: "oauth",
      oauthSecretNamespace: "tailscale",
      tags: ["tag:k8s"],
      allowedNamespaces: { from: "Selector", selector: { matchLabels: { team: "web" } } },
      allowedTags: ["tag:web"],
      apiURL: "https://api.example.com",
      loginURL: "https://login.example.com",
    }, "stored"),
    status: {
      tailnetInfo: { name: "tail8eff9.ts.net", magicDNSSuffix: "tail8eff9.ts.net" },
      deviceCount: 3,
      connectedDevices: 2,
      credential: { clientID: "k1", secretResourceVersion: "7", scopes: ["devices:core"] },
      usedBy: 1,
      conditions: [ready],
    },
  },
  {
    ...objectOf("TailscaleEndpoints", {
      tailnet: "stored",
      tags: ["tag:k8s-proxy"],
      proxy: {
        replicas: 3,
        connectionType: "egress",
        image: "tailscale/tailscale:v1.98.4",
        resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: 1 } },
        tolerations: [{ key: "edge", operator: "Exists" }],
        affinity: { podAntiAffinity: { anything: [{ topologyKey: "zone" }] } },
        podLabels: { team: "web" },
        hostnamePrefix: "edge",
      },
      ports: [{
        name: "http",
        port: 80,
        backendRef: { name: "web", namespace: "apps", port: 8080 },
      }],
      endpoints: [
        {
          name: "api",
          tailscaleIP: "100.64.0.10",
          port: 443,
          protocol: "HTTPS",
          weight: 3,
          healthCheck: { enabled: true, path: "/health", interval: "30s" },
          tls: { serverName: "api.example.com", caBundleRef: { name: "ca" } },
        },
        { name: "db", tailscaleFQDN: "db.tail8eff9.ts.net", port: 5432, protocol: "TCP" },
        { name: "web", externalTarget: "web.apps.svc.cluster.local:8080" },
      ],
      autoDiscovery: { enabled: true, patterns: ["api-*"], tags: ["tag:api"] },
    }, "stored"),
    status: {
      statefulSetRefs: [{
        name: "stored-egress",
        namespace: "default",
        connectionType: "egress",
        desiredReplicas: 3,
        readyReplicas: 3,
      }],
      devices: [{ hostname: "edge-egress-0", nodeID: "n1", statefulSetPod: "stored-egress-0" }],
      endpointStatus: [{ name: "api", healthStatus: "Unknown", source: "Manual" }],
      totalEndpoints: 3,
      healthyEndpoints: 3,
      conditions: [ready],
    },
  },
  {
    ...objectOf(
      "TailscaleGatewayRevision",
      { targetRefs: [GATEWAY], revision: "4f6c.3" },
      "stored",
    ),
    status: {
      ancestors: [{
        ancestorRef: GATEWAY,
        controllerName: "gateway.envoyproxy.io/gatewayclass-controller",
        conditions: [{ ...ready, type: "Accepted", reason: "Accepted" }],
      }],
    },
  },
];

/** Stored objects are as they were after the upgrade, and can be written again as they are. */
export async function survivesUpgrade(kubectl: Kubectl): Promise<void> {
  await installCrds(kubectl, await firstRelease());
  const before = await store(kubectl);
  await installCrds(kubectl, KINDS.map(crdYaml));
  try {
    const after = await stored(kubectl);
    for (const [index, object] of before.entries()) {
      assertEquals(kept(object, after[index]), object);
    }
    await must(kubectl(["replace", "-f", "-"], manifest(after)));
    const replaced = await stored(kubectl);
    assertEquals(replaced.map(generationOf), before.map(generationOf));
  } finally {
    for (const { kind, metadata } of STORED) {
      const where = metadata.namespace ? ["-n", metadata.namespace] : [];
      await must(kubectl(["delete", kind, metadata.name, ...where]));
    }
  }
}

async function firstRelease(): Promise<string[]> {
  const names = (await Array.fromAsync(Deno.readDir(FIRST_RELEASE))).map(({ name }) => name);
  return await Promise.all(
    names.sort().map((name) => Deno.readTextFile(new URL(name, FIRST_RELEASE))),
  );
}

/** Stores the objects with their statuses, and reads them back. */
async function store(kubectl: Kubectl): Promise<KubeObject[]> {
  await must(kubectl(["create", "-f", "-"], manifest(STORED)));
  for (const { kind, metadata, status } of STORED) {
    const where = metadata.namespace ? ["-n", metadata.namespace] : [];
    const patch = ["--type=merge", "--subresource=status", "-p", JSON.stringify({ status })];
    await must(kubectl(["patch", kind, metadata.name, ...where, ...patch]));
  }
  const objects = await stored(kubectl);
  for (const [index, object] of objects.entries()) {
    const { spec, status } = STORED[index] as KubeObject & { spec?: unknown; status: unknown };
    assertEquals(kept({ spec, status }, object), { spec, status }, "the first release lost it");
  }
  return objects;
}

async function stored(kubectl: Kubectl): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const { kind, metadata } of STORED) {
    const where = metadata.namespace ? ["-n", metadata.namespace] : [];
    const show = ["-o", "json", "--show-managed-fields"];
    objects.push(JSON.parse(await must(kubectl(["get", kind, metadata.name, ...where, ...show]))));
  }
  return objects;
}

function generationOf({ metadata }: KubeObject): unknown {
  return metadata.generation;
}

/** Of `value`, what `wanted` has: a newer schema may add defaults, and lose nothing. */
function kept(wanted: unknown, value: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(value)) {
    assert(wanted.length === value.length, JSON.stringify({ wanted, value }));
    return wanted.map((item, index) => kept(item, value[index]));
  }
  if (!isMap(wanted) || !isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(wanted).filter(([name]) => name in value)
      .map(([name, item]) => [name, kept(item, value[name])]),
  );
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
