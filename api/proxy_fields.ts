/**
 * How proxies run: the `proxy` of TailscaleEndpoints, and the pod types of
 * Kubernetes in it.
 *
 * @module
 */

import { z } from "zod";
import { count, LIMITS, objectName, stringMap, text } from "./fields.ts";
import { type FieldRule, withRules } from "./rules.ts";

const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** An amount of a resource: `500m`, `128Mi` or a whole number. */
export const quantity = () =>
  z.union([z.int(), z.string().max(64).regex(new RegExp(QUANTITY))])
    .meta({ "x-kubernetes-int-or-string": true, pattern: QUANTITY });

const amounts = () =>
  z.record(z.string(), quantity().describe("An amount, such as `500m` or `128Mi`."))
    .refine((map) => Object.keys(map).length <= LIMITS.mapEntries, {
      error: `at most ${LIMITS.mapEntries} entries`,
    })
    .meta({ maxProperties: LIMITS.mapEntries });

/** The compute resources of a container. */
export const resourceRequirements = () =>
  z.object({
    requests: amounts().exactOptional().describe(
      "What is reserved for the container, such as `{cpu: 100m, memory: 128Mi}`.",
    ),
    limits: amounts().exactOptional().describe(
      "What the container may use at most, such as `{cpu: 500m, memory: 256Mi}`.",
    ),
  });

const toleration = () =>
  z.object({
    key: z.string().max(317).exactOptional().describe("The taint's key. By default every key."),
    operator: z.enum(["Exists", "Equal", "Lt", "Gt"]).exactOptional().describe(
      "How the taint's value relates to `value`. Kubernetes' default is Equal.",
    ),
    value: z.string().max(LIMITS.name).exactOptional().describe("The taint's value."),
    effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).exactOptional().describe(
      "The taint's effect. By default every effect.",
    ),
    tolerationSeconds: z.int().exactOptional().describe(
      "How long, in seconds, a NoExecute taint is tolerated. By default for ever.",
    ),
  }).describe("A toleration, as in a pod.");

/** A Kubernetes type that is passed on whole; the API server checks it in the pod template. */
const passedOn = () => z.looseObject({}).meta({ "x-kubernetes-preserve-unknown-fields": true });

const imagePullSecret = () =>
  z.object({ name: objectName().describe("The Secret's name.") }).describe(
    "A Secret of the object's namespace.",
  );

const containerFields = () => ({
  image: text(512).exactOptional().describe(
    "The proxies' image, such as `tailscale/tailscale:v1.98.4`. By default the one that the operator was started with.",
  ),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).exactOptional().describe(
    "When the image is pulled. By default as Kubernetes decides from the image's tag.",
  ),
  imagePullSecrets: z.array(imagePullSecret()).max(LIMITS.list).exactOptional().describe(
    "Secrets with credentials for the image's registry.",
  ),
  resources: resourceRequirements().exactOptional().describe(
    "Compute resources of each proxy's container.",
  ),
});

const schedulingFields = () => ({
  nodeSelector: stringMap(LIMITS.name).exactOptional().describe(
    "Labels that a node must have to run a proxy.",
  ),
  tolerations: z.array(toleration()).max(LIMITS.list).exactOptional().describe(
    "Taints of nodes that the proxies tolerate.",
  ),
  affinity: passedOn().exactOptional().describe(
    "Rules of node and pod affinity, as in a pod (`kubectl explain pod.spec.affinity`).",
  ),
  topologySpreadConstraints: z.array(passedOn().describe("A constraint, as in a pod."))
    .max(LIMITS.list).exactOptional().describe(
      "How the proxies are spread over nodes and zones, as in a pod (`kubectl explain pod.spec.topologySpreadConstraints`).",
    ),
  priorityClassName: objectName().exactOptional().describe(
    "The proxies' PriorityClass. By default the cluster's.",
  ),
  podLabels: stringMap(LIMITS.name).exactOptional().describe(
    "Labels that the proxies' pods get beside the operator's own, which win.",
  ),
  podAnnotations: stringMap().exactOptional().describe(
    "Annotations that the proxies' pods get beside the operator's own, which win.",
  ),
});

/** What TailscaleEndpoints and TailscaleProxyGroup have in common. */
const commonFields = () => ({
  networking: z.enum(["Userspace", "Kernel"]).default("Userspace").describe(
    "`Userspace` needs no privilege (PodSecurity restricted) and carries TCP. `Kernel` also carries UDP, and needs NET_ADMIN.",
  ),
  privileged: z.boolean().default(false).describe(
    "Runs Kernel-mode proxies privileged, for nodes where NET_ADMIN alone cannot open /dev/net/tun.",
  ),
  ...containerFields(),
  ...schedulingFields(),
  hostnamePrefix: text(52).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/).exactOptional().describe(
    "The devices' names in the tailnet: `<prefix>-ingress-<i>` and `<prefix>-egress-<i>`. By default a device is named as its pod.",
  ),
  ephemeral: z.boolean().default(false).describe(
    "Whether the devices are ephemeral: Tailscale then removes them some time after they disconnect.",
  ),
  acceptRoutes: z.boolean().default(true).describe(
    "Whether egress proxies use subnet routes and VIP services of the tailnet. Ingress proxies never do.",
  ),
});

const PRIVILEGED: FieldRule<{ privileged: boolean; networking: string }> = {
  rule: "!self.privileged || self.networking == 'Kernel'",
  message: "privileged is only for networking: Kernel",
  holds: ({ privileged, networking }) => !privileged || networking === "Kernel",
};

/** In which directions proxies serve. */
export const connectionType = () => z.enum(["ingress", "egress", "bidirectional"]);

/** How many proxies a StatefulSet has. */
export const replicas = () => count().max(64).default(2);

/** The `proxy` of a TailscaleEndpoints. */
export const endpointsProxy = () =>
  withRules(
    z.object({
      replicas: replicas().describe(
        "The proxies of each StatefulSet, 0 to 64; `bidirectional` makes two StatefulSets.",
      ),
      connectionType: connectionType().default("bidirectional").describe(
        "`ingress`: from the tailnet to the cluster. `egress`: from the cluster to the tailnet. `bidirectional`: both.",
      ),
      ...commonFields(),
    }),
    PRIVILEGED,
  );

/** The `proxy` of a TailscaleProxyGroup, which says elsewhere how many and in which directions. */
export const groupProxy = () => withRules(z.object(commonFields()), PRIVILEGED);
