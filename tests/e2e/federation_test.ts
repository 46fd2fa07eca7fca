/** Workload identity federation and what a tailnet allows, on the real API server with the operator's own rights. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import { MemoryTailnet, TailscaleApiServer } from "../../embedded/tailnet/mod.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { Testbed } from "../testbed/testbed.ts";
import { conditionOf, endpoints, NAMESPACE } from "./egress_manifests.ts";
import { install, OperatorProcess } from "./operator.ts";

const SYSTEM = "tailscale-gateway-system";
const ACCOUNT = `system:serviceaccount:${SYSTEM}:tailscale-gateway`;
const AUDIENCE = "api.tailscale.com/kFederated";

interface Scene {
  readonly bed: Testbed;
  readonly api: TailscaleApiServer;
  readonly apiURL: string;
  readonly operator: OperatorProcess;
}

/** Tailscale's API, which trusts the tokens that this cluster signs for the operator's account. */
function startTailscaleApi(bed: Testbed) {
  const api = new TailscaleApiServer({
    backend: new MemoryTailnet({ clock: new FakeClock(Date.now()) }),
    clock: systemClock,
    clients: [],
    federated: [{
      clientId: "kFederated",
      issuer: "https://kubernetes.default.svc.cluster.local",
      subject: ACCOUNT,
      audience: AUDIENCE,
      keys: async () => JSON.parse(await bed.kubectl("get", "--raw", "/openid/v1/jwks")).keys,
      scopes: ["devices:core", "auth_keys", "services"],
      tags: ["tag:k8s-operator"],
    }],
  });
  return { api, server: api.serve() };
}

/** A tailnet whose Secret holds no secret, for the namespaces of one team. */
function manifests(apiURL: string, audience = AUDIENCE): object[] {
  const selector = { matchLabels: { team: "web" } };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "identity", namespace: SYSTEM },
      stringData: { client_id: "kFederated", audience },
    },
    {
      apiVersion: "gateway.tailscale.com/v1alpha1",
      kind: "TailscaleTailnet",
      metadata: { name: "corp" },
      spec: {
        oauthSecretName: "identity",
        apiURL,
        allowedNamespaces: { from: "Selector", selector },
        allowedTags: ["tag:egress"],
      },
    },
  ];
}

async function said({ bed }: Scene, type: string, reason: string): Promise<string> {
  const [kind, name, ...namespace] = type.split("/");
  const accepted = kind === "tailscaleendpoints" ? "Accepted" : "Ready";
  const condition = await bed.waitFor(`${type} says ${reason}`, async () => {
    const found = conditionOf(await bed.get(kind!, name!, ...namespace), accepted);
    if (found?.reason === reason) return found;
    throw new Error(`${found?.reason}: ${found?.message}`);
  }, { timeoutMs: 90_000 });
  return condition.message;
}

async function tailnetWorks(scene: Scene): Promise<void> {
  const { bed, api } = scene;
  await bed.apply(manifests(scene.apiURL));
  await said(scene, "tailscaletailnets/corp", "Ready");
  const asked = api.requests.map(({ method, path, status }) => `${method} ${path} ${status}`);
  assertEquals(asked[0], "POST /api/v2/oauth/token-exchange 200");
  assertEquals(asked.filter((line) => line.includes("oauth")).length, 1);
  const { credential } = (await bed.get("tailscaletailnets", "corp")).status;
  assertEquals([credential.clientID, credential.missingScopes], ["kFederated", []]);
}

async function ownTokensAlone({ bed }: Scene): Promise<void> {
  const mayCreate = async (name: string, namespace: string) => {
    const account = `serviceaccounts/${name}`;
    const token = ["create", account, "--subresource=token", "-n", namespace];
    const answer = bed.kubectl("auth", "can-i", ...token, `--as=${ACCOUNT}`);
    return (await answer.catch(() => "no")).trim();
  };
  assertEquals(await mayCreate("tailscale-gateway", SYSTEM), "yes");
  assertEquals(await mayCreate("default", SYSTEM), "no");
  assertEquals(await mayCreate("default", "kube-system"), "no");
}

async function wrongAudience(scene: Scene): Promise<void> {
  await scene.bed.apply(manifests(scene.apiURL, "another"));
  const message = await said(scene, "tailscaletailnets/corp", "CredentialsInvalid");
  assertMatch(message, /client_id and audience in the Secret/);
  await scene.bed.apply(manifests(scene.apiURL));
  await said(scene, "tailscaletailnets/corp", "Ready");
}

/** Labels of a Namespace are changed, and noticed by watch. */
async function namespacesAndTags(scene: Scene): Promise<void> {
  const { bed, api } = scene;
  const object = `tailscaleendpoints/intranet/${NAMESPACE}`;
  const keys = () => api.requests.filter(({ path }) => path.endsWith("/keys")).length;
  await bed.apply([endpoints("100.64.0.10")]);
  assertMatch(await said(scene, object, "NamespaceNotAllowed"), /namespace office/);
  const before = keys();
  await bed.kubectl("label", "namespace", NAMESPACE, "team=web");
  await said(scene, object, "Accepted");
  await bed.waitFor("keys are made", () => Promise.resolve(keys() > before));
  const base = endpoints("100.64.0.10");
  await bed.apply([{ ...base, spec: { ...base.spec, tags: ["tag:egress", "tag:root"] } }]);
  assertMatch(await said(scene, object, "TagsNotPermitted"), /does not allow tag:root:/);
  await bed.kubectl("label", "namespace", NAMESPACE, "team-");
  await said(scene, object, "NamespaceNotAllowed");
  assert(await bed.get("statefulset", "intranet-egress", NAMESPACE), "what runs goes on");
}

async function withoutTheRight(scene: Scene): Promise<void> {
  const { bed, operator } = scene;
  await operator.stop();
  await bed.kubectl("-n", SYSTEM, "delete", "rolebinding", "tailscale-gateway");
  await operator.start();
  const message = await said(scene, "tailscaletailnets/corp", "IdentityTokenFailed");
  assertMatch(message, /403 Forbidden.*Let the operator create serviceaccounts\/token/);
}

Deno.test("M232 federation: a tailnet without a secret works by tokens of the operator's own account", async (t) => {
  await using bed = await Testbed.start({ parts: ["kube"] });
  const { api, server } = startTailscaleApi(bed);
  const operator = new OperatorProcess(bed);
  const scene = { bed, api, apiURL: server.url, operator };
  try {
    await install(bed);
    await operator.start();
    const step = async (name: string, fn: (scene: Scene) => Promise<void>) => {
      if (!await t.step(name, () => fn(scene))) throw new Error(`what follows needs: ${name}`);
    };
    await step("M3 M8 a token of its account is exchanged, and the tailnet is ready", tailnetWorks);
    await step("it may make tokens of no other account", ownTokensAlone);
    await step("another audience is refused, and mended", wrongAudience);
    await step("M2 M65 M231 namespaces by label, and tags", namespacesAndTags);
    await step("without the right the condition names it", withoutTheRight);
    await step("no token shows in the log", () => {
      assertFalse(/eyJ[A-Za-z0-9_-]{20}/.test(operator.log));
      return Promise.resolve();
    });
  } finally {
    await operator.stop();
    await server.shutdown();
  }
});
