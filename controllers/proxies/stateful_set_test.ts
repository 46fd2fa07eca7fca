import { assert, assertEquals } from "@std/assert";
import { labelsFor } from "../../core/labels.ts";
import { endpoints } from "../testing/builders.ts";
import { statefulSet } from "./stateful_set.ts";
import { proxySet } from "./testing.ts";

const made = (rest: Parameters<typeof proxySet>[0] = {}) => statefulSet(proxySet(rest));
const template = (rest: Parameters<typeof proxySet>[0] = {}) => made(rest).spec.template;
const pod = (rest: Parameters<typeof proxySet>[0] = {}) => template(rest).spec;

function container(rest: Parameters<typeof proxySet>[0] = {}) {
  const [only, ...others] = pod(rest).containers;
  assert(only && others.length === 0);
  return only;
}

Deno.test("M74 M75 M76 M77 M78 the environment is containerboot's, the pod's own facts first", () => {
  const env = container().env?.map(({ name, value, valueFrom }) =>
    `${name}=${value ?? `{${valueFrom?.fieldRef?.fieldPath}}`}`
  );
  assertEquals(env, [
    "POD_NAME={metadata.name}",
    "POD_UID={metadata.uid}",
    "POD_IP={status.podIP}",
    "POD_IPS={status.podIPs}",
    "TS_USERSPACE=true",
    "TS_KUBE_SECRET=$(POD_NAME)",
    "TS_STATE=kube:$(POD_NAME)",
    "TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR=/etc/tsconfig/$(POD_NAME)",
    "TS_ENABLE_HEALTH_CHECK=true",
    "TS_EXPERIMENTAL_SERVICE_AUTO_ADVERTISEMENT=false",
    "TS_OUTBOUND_HTTP_PROXY_LISTEN=:1055",
  ]);
});

Deno.test("nothing in the environment is refused beside a config folder", () => {
  const names = new Set(container().env?.map(({ name }) => name));
  const refused = ["TS_AUTHKEY", "TS_HOSTNAME", "TS_EXTRA_ARGS", "TS_ROUTES", "TS_ACCEPT_DNS"];
  assertEquals(refused.filter((name) => names.has(name)), []);
});

Deno.test("the pod passes PodSecurity restricted", () => {
  assertEquals(pod().securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assertEquals(container().securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  assertEquals(pod().initContainers, undefined);
  const sources = pod().volumes?.map(({ name: _name, ...source }) => Object.keys(source)).flat();
  assertEquals(new Set(sources), new Set(["emptyDir", "secret"]));
});

Deno.test("M70 M101 pods start together, are ready by containerboot's health and have a minute to end", () => {
  const { spec } = made();
  assertEquals([spec.podManagementPolicy, spec.replicas], ["Parallel", 2]);
  assertEquals(pod().terminationGracePeriodSeconds, 60);
  assertEquals(container().readinessProbe?.httpGet, { path: "/healthz", port: 9002 });
  assertEquals(pod().automountServiceAccountToken, undefined, "mounted by default");
});

Deno.test("M81 M82 M83 M235 every slot's config is mounted read-only, and /tmp can be written", () => {
  const { volumes = [] } = pod();
  assertEquals(volumes[0], { name: "tailscaled-state", emptyDir: {} });
  assertEquals(volumes.length, 9);
  assertEquals(volumes[3], {
    name: "tailscaledconfig-2",
    secret: { secretName: "intranet-egress-2-config", optional: true },
  });
  assertEquals(container().volumeMounts?.slice(0, 2), [
    { name: "tailscaled-state", mountPath: "/tmp" },
    { name: "tailscaledconfig-0", mountPath: "/etc/tsconfig/intranet-egress-0", readOnly: true },
  ]);
});

Deno.test("M81 scaling within the slots changes no template, and beyond them it does", () => {
  for (const replicas of [0, 1, 2, 3, 8]) {
    assertEquals(template({ replicas }), template({ replicas: 2 }), `${replicas}`);
  }
  assertEquals(pod({ replicas: 9 }).volumes?.length, 17);
  assertEquals(template({ replicas: 9 }), template({ replicas: 16 }));
  assertEquals(pod({ replicas: 64 }).volumes?.length, 65);
});

Deno.test("M16 M17 M18 image, resources and scheduling are the user's, word for word", () => {
  const given = {
    image: "mirror/tailscale:1",
    imagePullPolicy: "Always",
    imagePullSecrets: [{ name: "mirror" }],
    resources: {
      requests: { cpu: "100m", memory: "128Mi" },
      limits: { cpu: "500m", memory: "256Mi" },
    },
    nodeSelector: { zone: "a" },
    tolerations: [{ key: "edge", operator: "Exists" as const }],
    affinity: { podAntiAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1 }],
    priorityClassName: "high",
  };
  const { image, imagePullPolicy, resources, ...scheduling } = given;
  const made = container({ pod: given });
  assertEquals([made.image, made.imagePullPolicy, made.resources], [
    image,
    imagePullPolicy,
    resources,
  ]);
  const { nodeSelector, tolerations, affinity, ...rest } = pod({ pod: given });
  const { topologySpreadConstraints, priorityClassName, imagePullSecrets } = rest;
  assertEquals({
    imagePullSecrets,
    nodeSelector,
    tolerations,
    affinity,
    topologySpreadConstraints,
    priorityClassName,
  }, scheduling);
});

Deno.test("what the user does not set is not in the pod, not even as undefined", () => {
  const keys = [...Object.keys(pod()), ...Object.keys(container())];
  for (const key of ["affinity", "nodeSelector", "resources", "imagePullPolicy"]) {
    assertEquals(keys.includes(key), false, key);
  }
});

Deno.test("the user's pod labels stand beside ours, and cannot replace them", () => {
  const podLabels = { team: "edge", "app.kubernetes.io/instance": "evil" };
  const { metadata } = template({
    pod: { image: "i", podLabels, podAnnotations: { note: "x" } },
  });
  assertEquals(metadata?.labels?.team, "edge");
  assertEquals(metadata?.annotations, { note: "x" });
  const { selector } = made().spec;
  for (const [name, value] of Object.entries(selector.matchLabels ?? {})) {
    assertEquals(metadata?.labels?.[name], value);
  }
});

Deno.test("M100 M105 the StatefulSet and its pods say whom they are for, and go with it", () => {
  const set = made();
  for (const labels of [set.metadata.labels, set.spec.template.metadata?.labels]) {
    for (const [name, value] of Object.entries(labelsFor(endpoints(), "corp"))) {
      assertEquals(labels?.[name], value);
    }
  }
  assertEquals(set.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]), [
    ["uid-of-intranet", true],
  ]);
});
