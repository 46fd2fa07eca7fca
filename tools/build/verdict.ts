/**
 * Whether what was made is our program.
 *
 * @module
 */
import type { CommandResult } from "./files.ts";

/** How an attempt to make an executable went. */
export type Verdict =
  | { readonly kind: "made" }
  | { readonly kind: "noRuntime"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** What `version` prints. */
export function versionLine(version: string): string {
  return `tailscale-gateway ${version}`;
}

/** Says whether `deno compile` worked, and where not, whether for want of the runtime alone. */
export function judgeCompile({ ok, stderr }: CommandResult): Verdict {
  if (ok) return { kind: "made" };
  const lines = plain(stderr).split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const why = lines.find((line) => /denort/i.test(line))?.replace(/^\d+: /, "");
  return why
    ? { kind: "noRuntime", why }
    : { kind: "failed", why: lines.join("\n") || "deno compile said nothing" };
}

/**
 * Says whether what was made is our program. Deno takes any file for the runtime: with
 * itself it makes an executable that is Deno, and reports success.
 */
export function judgeOutput({ ok, stdout, stderr }: CommandResult, version: string): Verdict {
  if (ok && stdout.trim() === versionLine(version)) return { kind: "made" };
  const said = plain(stdout + stderr).trim().split("\n")[0] ?? "";
  return {
    kind: "noRuntime",
    why: `what was made is not our program: asked for its version, it says "${said}"`,
  };
}

function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/\x1b\[[0-9;]*m/g, "");
}
