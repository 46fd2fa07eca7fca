/**
 * The simulated cluster and tailnet that the standalone mode runs on.
 *
 * @module
 */
import { decodeBase64 } from "../../core/base64.ts";
import type { Clock } from "../../core/clock.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { admit } from "../../api/admission.ts";
import { KINDS } from "../../api/registry.ts";
import * as resources from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import {
  EmbeddedApiServer,
  ISSUER,
  KEYS_PATH,
  type ServedType,
} from "../../embedded/apiserver/mod.ts";
import {
  type FederatedClient,
  type HostOptions,
  MemoryTailnet,
  type OAuthClient,
  TailscaleApiServer,
} from "../../embedded/tailnet/mod.ts";
import { WorkloadSimulator } from "../../embedded/workloads/simulator.ts";
import { KubeClient } from "../../kube/client.ts";
import { KubeApiError } from "../../kube/errors.ts";
import { handlerTransport } from "../../kube/transport.ts";
import { type IdentityTokens, identityTokens } from "../../operator/identity.ts";
import type { Log } from "../../telemetry/log.ts";
import { CommandError } from "../errors.ts";
import type { Manifest } from "./manifests.ts";

/** The operator's account. */
const ACCOUNT = { namespace: "default", name: "tailscale-gateway" };

/** What the simulated OAuth clients may do. */
const SCOPES = ["devices:core", "auth_keys", "services"];

const TYPES: ReadonlyMap<string, ResourceType> = new Map(
  [...KINDS.map(({ resource }) => resource), ...Object.values(resources).flat()]
    .filter((value): value is ResourceType => typeof value === "object")
    .map((type) => [`${apiVersionOf(type)}/${type.kind}`, type]),
);

/** The kinds of ours with what `kubectl` shows of them. */
const SERVED: readonly ServedType[] = KINDS.map((
  { resource, shortNames, categories, columns },
) => ({
  ...resource,
  shortNames,
  categories,
  columns,
}));

/** A cluster and a tailnet that exist in this process alone. */
export class SimulatedCluster {
  readonly api: EmbeddedApiServer;
  readonly client: KubeClient;
  readonly tailnet: MemoryTailnet;
  /** Tokens of the operator's account, which the tailnet trusts. */
  readonly identityToken: IdentityTokens;
  readonly #tailscale: TailscaleApiServer;
  readonly #simulator: WorkloadSimulator;
  /** Hosts that were added to the tailnet. */
  readonly #hosts = new Set<string>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.api = new EmbeddedApiServer({
      clock,
      types: SERVED,
      validate: problemsOf,
      defaults: withDefaults,
    });
    this.api.onStored((object) => this.#adopt(object));
    this.client = new KubeClient(handlerTransport((request) => this.api.handle(request)));
    this.tailnet = new MemoryTailnet({ clock });
    const { client, tailnet } = this;
    this.#tailscale = new TailscaleApiServer({ backend: tailnet, clock, clients: [] });
    this.identityToken = identityTokens({ client, ...ACCOUNT, file: "" });
    this.#simulator = new WorkloadSimulator({
      client,
      clock,
      tailnet,
      log: log.named("simulator"),
    });
  }

  /** Answers in place of Tailscale's API, whatever host is asked. */
  readonly fetch: typeof fetch = (input, init) => this.#tailscale.handle(new Request(input, init));

  /** Plays the StatefulSet controller, the kubelet and the proxies. */
  run(signal: AbortSignal): Promise<void> {
    return this.#simulator.run(signal);
  }

  /**
   * Applies manifests, as `kubectl apply` would.
   *
   * @throws {CommandError} when one is refused.
   */
  async apply(manifests: readonly Manifest[]): Promise<void> {
    await this.#makeNamespaces(manifests);
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: ACCOUNT };
    await this.client.apply(resources.SERVICE_ACCOUNT, account, { fieldManager: "standalone" });
    for (const manifest of manifests) await this.#applyOne(manifest);
  }

  /** The OAuth clients and the hosts that objects name are those of the tailnet. */
  #adopt(object: KubeObject): void {
    for (const client of oauthClientOf(object)) this.#tailscale.setClient(client);
    for (const { clientId, audience } of identityOf(object)) {
      const keys = async () => {
        const answer = await this.api.handle(new Request(`http://api${KEYS_PATH}`));
        return (await answer.json()).keys;
      };
      const subject = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
      const grant = { scopes: SCOPES, tags: [] };
      this.#tailscale.setFederated({ clientId, audience, subject, issuer: ISSUER, keys, ...grant });
    }
    for (const host of hostsOf(object)) {
      const id = host.ip ?? host.name;
      if (this.#hosts.has(id)) continue;
      this.#hosts.add(id);
      this.tailnet.addHost(host);
    }
  }

  async #applyOne({ file, object }: Manifest): Promise<void> {
    const type = TYPES.get(`${object.apiVersion}/${object.kind}`);
    if (!type) {
      throw new CommandError(
        `${file}: ${object.kind} (${object.apiVersion}) is not simulated here`,
      );
    }
    const namespaced = type.namespaced && !object.metadata.namespace
      ? { ...object, metadata: { ...object.metadata, namespace: "default" } }
      : object;
    try {
      await this.client.apply(type, namespaced, { fieldManager: "kubectl", force: true });
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error;
      const what = `${object.kind} ${object.metadata.name}`;
      throw new CommandError(`${file}: ${what} is refused: ${error.message}`, { cause: error });
    }
  }

  async #makeNamespaces(manifests: readonly Manifest[]): Promise<void> {
    const names = new Set(manifests.flatMap(({ object }) => object.metadata.namespace ?? []));
    for (const name of names) {
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      await this.client.apply(resources.NAMESPACE, namespace, { fieldManager: "standalone" });
    }
  }
}

type Values = Record<string, string>;

interface SecretObject extends KubeObject {
  data?: Values;
  stringData?: Values;
}

function valueIn({ data, stringData }: SecretObject, key: string): string {
  return stringData?.[key] ?? decodeBase64(data?.[key] ?? "") ?? "";
}

/** The federated identity that a Secret without a secret names. */
function identityOf(object: SecretObject): Pick<FederatedClient, "clientId" | "audience">[] {
  if (object.kind !== "Secret") return [];
  const [clientId = "", audience = ""] = ["client_id", "audience"].map((k) => valueIn(object, k));
  return clientId && audience ? [{ clientId, audience }] : [];
}

/** The OAuth client whose credential a Secret holds. */
function oauthClientOf(object: SecretObject): OAuthClient[] {
  if (object.kind !== "Secret") return [];
  const clientId = valueIn(object, "client_id");
  const clientSecret = valueIn(object, "client_secret");
  return clientId && clientSecret ? [{ clientId, clientSecret, scopes: SCOPES, tags: [] }] : [];
}

/** The hosts that a TailscaleEndpoints names. */
function hostsOf(object: KubeObject): HostOptions[] {
  if (object.kind !== TailscaleEndpoints.kind) return [];
  // What the API server would refuse is told when it is applied.
  if (!("object" in admit(object))) return [];
  const { endpoints = [] } = (object as TailscaleEndpoints).spec;
  return endpoints.filter(({ tailscaleIP, tailscaleFQDN }) => tailscaleIP || tailscaleFQDN)
    .map(({ name, tailscaleIP, tailscaleFQDN, port }) => ({
      name: tailscaleFQDN ?? name,
      ...(tailscaleIP ? { ip: tailscaleIP } : {}),
      ...(port ? { port } : {}),
    }));
}

/** As the CRD's schema and rules would. */
function problemsOf(object: KubeObject): readonly string[] {
  const admitted = admit(object);
  return "errors" in admitted ? admitted.errors : [];
}

function withDefaults(object: KubeObject): KubeObject {
  const admitted = admit(object);
  return "object" in admitted ? admitted.object : object;
}
