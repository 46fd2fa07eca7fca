/**
 * A tailnet that trusts the tests' cluster (workload identity federation).
 *
 * @module
 */
import type { EmbeddedApiServer } from "../../embedded/apiserver/mod.ts";
import type { FederatedClient } from "../../embedded/tailnet/mod.ts";
import type { KubeClient } from "../../kube/client.ts";
import { identityTokens } from "../identity.ts";
import { OAUTH_CLIENT } from "./objects.ts";

/** The operator's account. */
export const ACCOUNT = { namespace: "tailscale", name: "operator" };

/** The client that tokens of that account prove. */
export const FEDERATED_CLIENT: Omit<FederatedClient, "keys"> = {
  clientId: "kFederatedCNTRL",
  issuer: "https://kubernetes.default.svc.cluster.local",
  subject: `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`,
  audience: "api.tailscale.com/kFederatedCNTRL",
  scopes: OAUTH_CLIENT.scopes,
  tags: OAUTH_CLIENT.tags,
};

/** {@linkcode FEDERATED_CLIENT} with that cluster as issuer. */
export function trusting(cluster: EmbeddedApiServer): FederatedClient {
  const keys = async () => {
    const response = await cluster.handle(new Request("http://api/openid/v1/jwks"));
    return (await response.json()).keys;
  };
  return { ...FEDERATED_CLIENT, keys };
}

/** Tokens of {@linkcode ACCOUNT}, else those in a file. */
export function identityIn(client: KubeClient, file = "/nowhere/token") {
  return identityTokens({ client, ...ACCOUNT, file });
}
