/**
 * Workload identity federation: tokens of issuers that the tailnet trusts, for its own.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { ApiError } from "./api_error.ts";

/** A client that a token of another issuer proves, as an administrator registers it. */
export interface FederatedClient {
  readonly clientId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /** The issuer's public keys, as it serves them (`jwks_uri`). */
  readonly keys: () => Promise<readonly JsonWebKey[]>;
  readonly scopes: readonly string[];
  readonly tags: readonly string[];
}

interface Claims {
  readonly iss?: unknown;
  readonly sub?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
}

/** Finds the client that a form of `POST oauth/token-exchange` proves to be. */
export class Federation {
  readonly #clients: Map<string, FederatedClient>;
  readonly #clock: Clock;

  constructor(clients: readonly FederatedClient[], clock: Clock) {
    this.#clients = new Map(clients.map((client) => [client.clientId, client]));
    this.#clock = clock;
  }

  /** Registers a client, in place of one of the same id. */
  set(client: FederatedClient): void {
    this.#clients.set(client.clientId, client);
  }

  /** @throws {ApiError} that says what does not fit. */
  async clientOf(form: URLSearchParams): Promise<FederatedClient> {
    const client = this.#clients.get(form.get("client_id") ?? "");
    if (!client) throw new ApiError(401, "unknown client_id");
    const [head = "", payload = "", signature = "", ...more] = (form.get("jwt") ?? "").split(".");
    const claims = jsonIn(payload) as Claims | undefined;
    const alg = (jsonIn(head) as { alg?: unknown } | undefined)?.alg;
    const signed = `${head}.${payload}`;
    if (!claims || more.length > 0) throw new ApiError(400, "jwt is malformed");
    const problem = this.#misfit(claims, client);
    if (problem) throw new ApiError(401, problem);
    if (await isSigned({ alg, signed, signature }, await client.keys())) return client;
    throw new ApiError(401, "jwt has no signature of its issuer");
  }

  #misfit({ iss, sub, aud, exp }: Claims, client: FederatedClient): string | undefined {
    if (iss !== client.issuer) return `issuer ${iss} does not match`;
    if (sub !== client.subject) return `subject ${sub} does not match`;
    const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
    if (!audiences.includes(client.audience)) return `audience ${aud} does not match`;
    const now = this.#clock.now();
    return typeof exp === "number" && exp * 1000 > now ? undefined : "jwt has expired";
  }
}

interface Signed {
  readonly alg: unknown;
  readonly signed: string;
  readonly signature: string;
}

/** What Kubernetes signs with, RS256, and what the embedded API server does, ES256. */
const ALGORITHMS: Readonly<Record<string, { name: string; hash: string; namedCurve?: string }>> = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", hash: "SHA-256", namedCurve: "P-256" },
};

async function isSigned(
  { alg, signed, signature }: Signed,
  keys: readonly JsonWebKey[],
): Promise<boolean> {
  const algorithm = typeof alg === "string" ? ALGORITHMS[alg] : undefined;
  const bytes = bytesIn(signature);
  if (!algorithm || !bytes) return false;
  const kty = alg === "RS256" ? "RSA" : "EC";
  for (const key of keys.filter((each) => each.kty === kty)) {
    const imported = await crypto.subtle.importKey("jwk", key, algorithm, false, ["verify"]);
    const text = new TextEncoder().encode(signed);
    if (await crypto.subtle.verify(algorithm, imported, bytes, text)) return true;
  }
  return false;
}

function bytesIn(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined; // no base64: a token that nobody signed
  }
}

function jsonIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesIn(text)));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // no JSON: the caller refuses the token
  }
}
