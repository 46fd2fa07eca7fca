/**
 * Tokens of ServiceAccounts for other audiences than the API server.
 *
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
 *
 * @module
 */
import type { ResourceType } from "../core/object.ts";
import type { KubeClient } from "./client.ts";
import { KubeConnectionError } from "./errors.ts";

const SERVICE_ACCOUNT: ResourceType = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

/** Whose token, and what for. */
export interface TokenRequest {
  readonly namespace: string;
  readonly name: string;
  readonly audiences: readonly string[];
  /** At least 600; the API server may give less. @default 3600 */
  readonly expirationSeconds?: number;
}

/**
 * Asks for a token. It needs `create` on `serviceaccounts/token` of that account.
 *
 * @throws {KubeApiError} 403 when it is not permitted, 404 when there is no such account
 */
export async function requestToken(client: KubeClient, request: TokenRequest): Promise<string> {
  const { namespace, name, audiences, expirationSeconds = 3600 } = request;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences, expirationSeconds },
  };
  const at = { name, namespace, subresource: "token" };
  const answer = await client.createAt<TokenAnswer>(SERVICE_ACCOUNT, at, body);
  const token = answer.status?.token;
  if (typeof token === "string" && token !== "") return token;
  const what = `TokenRequest for ServiceAccount ${namespace}/${name}`;
  throw new KubeConnectionError(what, "the answer holds no token");
}

interface TokenAnswer {
  readonly status?: { readonly token?: unknown };
}
