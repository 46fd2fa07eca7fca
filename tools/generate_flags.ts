/**
 * Writes the program's flags ([permissions.ts](./permissions.ts)) to where they are
 * given: the tasks of `deno.json`, and the entry point of the `Dockerfile`. `--check`
 * writes nothing and fails when they are stale.
 *
 * @module
 */
import { BUNDLE_FLAGS, HEAP_FLAG, PERMISSIONS, permissions } from "./permissions.ts";

/** As the shell of Deno's tasks has to have them: it would take brackets for a pattern. */
function words(flags: readonly string[]): string {
  return flags.map((flag) => flag.includes("[") ? `'${flag}'` : flag).join(" ");
}

/** The text of `deno.json` with the tasks that run the program. */
export function withTasks(denoJson: string): string {
  const tasks = {
    start: `deno run ${words(PERMISSIONS)} main.ts standalone`,
    run: `deno run ${words(permissions(["$HOME/.kube"]))} main.ts run`,
  };
  return Object.entries(tasks).reduce(
    (text, [name, command]) =>
      replaceOnce(
        text,
        new RegExp(`^    "${name}": "deno run .*"`, "m"),
        `    "${name}": "${command}"`,
      ),
    denoJson,
  );
}

/** The text of the `Dockerfile` with the entry point of the image that holds the bundle. */
export function withEntryPoint(dockerfile: string): string {
  const entry = ["/deno", "run", ...BUNDLE_FLAGS, HEAP_FLAG, "/app/dist/tailscale-gateway.js"];
  const lines = entry.map((word) => `  ${JSON.stringify(word)}`).join(", \\\n");
  return replaceOnce(
    dockerfile,
    /^ENTRYPOINT \[ \\\n(?:.*\\\n)*\]$/m,
    `ENTRYPOINT [ \\\n${lines} \\\n]`,
  );
}

function replaceOnce(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`there is no ${pattern} to write flags to`);
  return text.replace(pattern, () => by);
}

const FILES: Readonly<Record<string, (text: string) => string>> = {
  "deno.json": withTasks,
  "Dockerfile": withEntryPoint,
};

if (import.meta.main) {
  const stale: string[] = [];
  for (const [path, update] of Object.entries(FILES)) {
    const file = new URL(`../${path}`, import.meta.url);
    const current = await Deno.readTextFile(file);
    const text = update(current);
    if (current === text) continue;
    if (Deno.args.includes("--check")) stale.push(path);
    else await Deno.writeTextFile(file, text);
  }
  if (stale.length > 0) {
    console.error(`stale: ${stale.join(", ")}; run: bin/deno task generate`);
    Deno.exit(1);
  }
}
