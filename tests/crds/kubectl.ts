/** Running kubectl against the API server under test. */
import { assertEquals } from "@std/assert";
import type { KubeObject } from "../../core/object.ts";

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl to its end, whatever that is. */
export type Kubectl = (args: readonly string[], stdin?: string) => Promise<KubectlResult>;

/** What kubectl printed; it must have succeeded. */
export async function must(result: Promise<KubectlResult>): Promise<string> {
  const { code, stdout, stderr } = await result;
  assertEquals(code, 0, stderr);
  return stdout;
}

/** Objects as one file. JSON leaves DEL as it is, and YAML, as which kubectl reads it, has none. */
export function manifest(objects: readonly KubeObject[]): string {
  return objects.map((object) => JSON.stringify(object).replaceAll("\x7f", "\\u007f"))
    .join("\n---\n");
}

/** Installs CRDs, and waits until their kinds are served. */
export async function installCrds(kubectl: Kubectl, yaml: readonly string[]): Promise<string[]> {
  const stdout = await must(
    kubectl(["apply", "--server-side", "-o", "name", "-f", "-"], yaml.join("---\n")),
  );
  const crds = stdout.trim().split("\n");
  await must(kubectl(["wait", "--for=condition=Established", "--timeout=60s", ...crds]));
  return crds;
}
