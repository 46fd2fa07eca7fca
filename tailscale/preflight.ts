/**
 * Whether an OAuth client may do what the operator needs, found without a write.
 *
 * @module
 */
import { ScopeMissing } from "./errors.ts";
import { grantOf, NEEDED_SCOPES, type Scope } from "./scopes.ts";

/** The calls that the check makes. */
export interface Probed {
  readonly scopes: readonly string[] | undefined;
  listDevices(): Promise<unknown>;
  listAuthKeys(): Promise<unknown>;
  listServices(): Promise<unknown>;
}

/**
 * The scopes that are missing: a list that is refused, or that the token grants
 * for reading only (which a list does not show).
 *
 * @throws what a list throws, other than a missing scope.
 */
export async function missingScopes(client: Probed): Promise<Scope[]> {
  const probes: Record<Scope, () => Promise<unknown>> = {
    "devices:core": () => client.listDevices(),
    auth_keys: () => client.listAuthKeys(),
    services: () => client.listServices(),
  };
  const missing: Scope[] = [];
  for (const scope of NEEDED_SCOPES) {
    const readable = await succeeds(probes[scope]);
    if (!readable || grantOf(scope, client.scopes) === "read") missing.push(scope);
  }
  return missing;
}

async function succeeds(probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    if (error instanceof ScopeMissing) return false;
    throw error;
  }
}
