/**
 * A control plane with all CRDs, kept in the cache. To apply Gateway API's and
 * Envoy Gateway's CRDs costs the API server some 15 s, to copy its state 0.2 s.
 */
import { join } from "node:path";
import { sha256 } from "./build.ts";
import { run } from "./command.ts";
import { startControlPlane } from "./control_plane.ts";
import { Daemons } from "./daemons.ts";
import { cacheDir, gatewayCrds, program, SOURCES } from "./paths.ts";
import { makePki } from "./pki.ts";

/** Part of the key: raise it when the state is made in another way. */
const FORMAT = "1";

/** Gives `stateDir` a copy of the frozen state; makes that first where it is missing. */
export async function thaw(stateDir: string): Promise<void> {
  const frozen = join(cacheDir(), "frozen", await frozenKey());
  if (!await exists(frozen)) await freeze(frozen);
  await Deno.mkdir(stateDir, { recursive: true });
  await run(["cp", "-a", join(frozen, "etcd"), join(frozen, "kube"), stateDir]);
}

async function frozenKey(): Promise<string> {
  const versions = await Deno.readTextFile(join(SOURCES, "go", "kube", "go.mod"));
  const addresses = await Deno.readTextFile(join(SOURCES, "addresses.ts"));
  const text = [FORMAT, versions, addresses, await Deno.readTextFile(gatewayCrds())].join("\n");
  return (await sha256(new TextEncoder().encode(text))).slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function freeze(frozen: string): Promise<void> {
  const parent = join(cacheDir(), "frozen");
  await Deno.mkdir(parent, { recursive: true });
  const dir = await Deno.makeTempDir({ dir: parent, prefix: "making." });
  const daemons = new Daemons(join(dir, "log"));
  try {
    await makePki(join(dir, "kube"));
    await startControlPlane({ daemons, stateDir: dir });
    const kubectl = [program("kubectl"), "--kubeconfig", join(dir, "kube", "admin.kubeconfig")];
    await run([...kubectl, "apply", "--server-side", "--force-conflicts", "-f", gatewayCrds()]);
    await run([...kubectl, ..."wait --for=condition=Established crd --all".split(" ")]);
    await daemons.stopInOrder();
    await Deno.rename(dir, frozen).catch(async (error) => {
      // Another run was faster: its state is as good.
      if (!await exists(frozen)) throw error;
    });
  } finally {
    await daemons.stopAll();
    await Deno.remove(dir, { recursive: true }).catch(() => {});
  }
}
