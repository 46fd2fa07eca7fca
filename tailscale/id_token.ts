/**
 * Tokens that prove an identity to Tailscale (workload identity federation): JSON
 * web tokens of an issuer that the tailnet trusts.
 *
 * @module
 */
import { IdTokenUnavailable } from "./errors.ts";

/**
 * The token without the space around it, if Tailscale could take it: three parts, claims
 * that can be read, and not expired. Its signature is Tailscale's to check.
 *
 * @throws {IdTokenUnavailable} that says what is wrong with it, and never holds it.
 */
export function checkIdToken(token: string, now: number): string {
  const text = token.trim();
  const refuse = (problem: string) => {
    throw new IdTokenUnavailable(`the identity token ${problem}`, { what: "workload identity" });
  };
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(text) ?? [];
  if (payload === undefined) return refuse("is no JSON web token");
  const claims = claimsIn(payload);
  if (!claims) return refuse("has claims that can't be read");
  const { exp } = claims;
  if (typeof exp !== "number" || !Number.isFinite(exp)) return refuse('has no "exp"');
  if (exp * 1000 <= now) {
    const at = new Date(exp * 1000).toISOString();
    return refuse(`expired at ${at}: check the machine's clock, and who renews the token`);
  }
  return text;
}

function claimsIn(payload: string): Record<string, unknown> | undefined {
  try {
    const bytes = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" && claims !== null && !Array.isArray(claims)
      ? claims as Record<string, unknown>
      : undefined;
  } catch {
    return undefined; // no base64, or no JSON
  }
}
