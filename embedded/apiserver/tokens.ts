/**
 * Tokens of ServiceAccounts: the `token` subresource, and the keys that check them.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeObject } from "../../core/object.ts";
import { timestamp } from "./clock.ts";
import { badRequest, invalid, methodNotAllowed } from "./errors.ts";
import { isMap, type JsonMap, mapAt } from "./json.ts";

/** Who issues the tokens, as a real API server does by default. */
export const ISSUER = "https://kubernetes.default.svc.cluster.local";
/** Where a real API server serves its keys. */
export const KEYS_PATH = "/openid/v1/jwks";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const LEAST_SECONDS = 600;
const DEFAULT_SECONDS = 3600;

/** Signs tokens with a key that it makes when it is first asked. */
export class TokenSigner {
  readonly #clock: Clock;
  #keys: Promise<CryptoKeyPair> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Answers a TokenRequest for an account.
   *
   * @throws {ApiError} 422 when it asks for less than ten minutes.
   */
  async answer(account: KubeObject, request: Request): Promise<Response> {
    if (request.method !== "POST") throw methodNotAllowed();
    const body: unknown = await request.json().catch(() => undefined);
    if (!isMap(body)) throw badRequest("the body is no TokenRequest");
    return Response.json(await this.#tokenFor(account, body), { status: 201 });
  }

  async #tokenFor(account: KubeObject, request: JsonMap): Promise<JsonMap> {
    const spec = mapAt(request, "spec") ?? {};
    const asked = spec["audiences"];
    const audiences = Array.isArray(asked) && asked.length > 0 ? asked : [ISSUER];
    const seconds = spec["expirationSeconds"] ?? DEFAULT_SECONDS;
    if (typeof seconds !== "number" || seconds < LEAST_SECONDS) {
      const kind = { group: "authentication.k8s.io", kind: "TokenRequest" };
      const least = `must be greater than or equal to ${LEAST_SECONDS}`;
      throw invalid(kind, "", [`spec.expirationSeconds: Invalid value: ${seconds}: ${least}`]);
    }
    const now = Math.floor(this.#clock.now() / 1000);
    const { name, namespace = "", uid = "" } = account.metadata;
    const token = await this.#sign({
      iss: ISSUER,
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: audiences,
      iat: now,
      nbf: now,
      exp: now + seconds,
      "kubernetes.io": { namespace, serviceaccount: { name, uid } },
    });
    return {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace },
      spec: { audiences, expirationSeconds: seconds },
      status: { token, expirationTimestamp: timestamp((now + seconds) * 1000) },
    };
  }

  /** The keys that check the tokens, as a JSON Web Key Set. */
  async keySet(): Promise<{ keys: JsonWebKey[] }> {
    const { publicKey } = await this.#pair();
    return { keys: [await crypto.subtle.exportKey("jwk", publicKey)] };
  }

  async #sign(claims: JsonMap): Promise<string> {
    const parts = [{ alg: "ES256", typ: "JWT" }, claims];
    const text = parts.map((part) => base64url(new TextEncoder().encode(JSON.stringify(part))))
      .join(".");
    const { privateKey } = await this.#pair();
    const how = { name: "ECDSA", hash: "SHA-256" };
    const signed = await crypto.subtle.sign(how, privateKey, new TextEncoder().encode(text));
    return `${text}.${base64url(new Uint8Array(signed))}`;
  }

  #pair(): Promise<CryptoKeyPair> {
    return this.#keys ??= crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  }
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
