import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import denoJson from "../deno.json" with { type: "json" };
import { freePort, RunningProgram, runProgram } from "../cmd/testing/program.ts";
import { EmbeddedApiServer } from "../embedded/apiserver/mod.ts";
import { compile } from "./build.ts";
import { runCommand } from "./build/files.ts";
import { withEntryPoint, withTasks } from "./generate_flags.ts";
import { ENVIRONMENT, PERMISSIONS } from "./permissions.ts";
import type { Attempt } from "./testdata/forbidden.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

Deno.test("D3 each flag forbids what it is there to forbid, by Deno's own error", async (t) => {
  const forbidden = fileURLToPath(new URL("./testdata/forbidden.ts", import.meta.url));
  const run = [Deno.execPath(), "run", ...PERMISSIONS, "--no-config", "--no-lock", forbidden];
  const env = { HOME: "/home/test", SECRET_OF_THE_MACHINE: "canary" };
  const { ok, stdout, stderr } = await runCommand(run, ROOT, env);
  assert(ok, stderr);
  const attempts: Record<string, Attempt> = JSON.parse(stdout);
  const refused: Record<string, string> = {
    "--deny-write": "Requires write access",
    "--deny-run": "Requires run access",
    "--deny-ffi": "Requires ffi access",
    "--deny-sys": "Requires sys access",
    "--allow-read, a file elsewhere": "Requires read access",
    "--allow-read, a module elsewhere": "Requires read access",
    "--allow-read, a socket elsewhere": "Requires read access",
    "--deny-net, an address": `Requires net access to "169.254.169.254:80"`,
    "--deny-net, an address of version 6": `Requires net access to "[fd00:ec2::254]:80"`,
    "--deny-net, written as of version 6": `Requires net access to "169.254.169.254:80"`,
    "--no-remote": "--no-remote is specified",
  };
  for (const [name, message] of Object.entries(refused)) {
    await t.step(name, () => assertStringIncludes(attempts[name]?.threw ?? "nothing", message));
  }
  await t.step("--ignore-env: what is not named is not there", () => {
    const value = attempts["the environment"]?.value;
    assertEquals(value, { HOME: "/home/test" });
  });
  await t.step("every attempt is judged here", () => {
    const judged = [...Object.keys(refused), "the environment"];
    assertEquals(Object.keys(attempts).sort(), judged.sort());
  });
});

Deno.test("D3 tasks and image run with the same flags", async () => {
  const tasks = await Deno.readTextFile(`${ROOT}deno.json`);
  assertEquals(tasks, withTasks(tasks), "run: bin/deno task generate");
  for (const flag of PERMISSIONS) {
    assertStringIncludes(denoJson.tasks.start, flag);
    if (!flag.startsWith("--allow-read")) assertStringIncludes(denoJson.tasks.run, flag);
  }
  const dockerfile = await Deno.readTextFile(`${ROOT}Dockerfile`);
  assertEquals(dockerfile, withEntryPoint(dockerfile), "run: bin/deno task generate");
  for (const flag of PERMISSIONS) assertStringIncludes(dockerfile, JSON.stringify(flag));
});

Deno.test("D3 the executable has the same permissions in it", async () => {
  const stage = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${stage}/bundle`);
    await Deno.mkdir(`${stage}/examples/quickstart`, { recursive: true });
    await Deno.writeTextFile(`${stage}/bundle/tailscale-gateway.js`, "console.log(1)");
    // Deno stands in for the runtime, and is not what is looked at.
    const made = await compile(stage, `${stage}/made`, { DENORT_BIN: Deno.execPath() });
    assert(made.ok, made.stderr);
    assertEquals(await bakedPermissions(`${stage}/made`), expectedBaked());
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
});

/** What `deno compile` wrote behind the runtime. */
async function bakedPermissions(file: string): Promise<Record<string, unknown>> {
  using opened = await Deno.open(file);
  const { size } = await opened.stat();
  await opened.seek(size - 100_000, Deno.SeekMode.Start);
  const tail = new TextDecoder("latin1").decode(await new Response(opened.readable).arrayBuffer());
  const found = /"permissions":(\{[^}]*\})/.exec(tail)?.[1];
  assert(found, "no permissions in the executable");
  return JSON.parse(found);
}

/** Deno writes a flag without a list as an empty list, and one that is missing as null. */
function expectedBaked(): Record<string, unknown> {
  const flags = new Map(PERMISSIONS.map((flag) => {
    const [name = "", list] = flag.split("=");
    return [name, list?.split(",") ?? []] as const;
  }));
  const kinds = ["env", "net", "ffi", "read", "run", "sys", "write", "import"];
  const baked: Record<string, unknown> = { prompt: false };
  for (const kind of kinds) {
    for (const verb of ["allow", "deny"]) {
      baked[`${verb}_${kind}`] = flags.get(`--${verb}-${kind}`) ?? null;
    }
  }
  return {
    ...baked,
    ignore_env: flags.get("--ignore-env"),
    ignore_read: null,
    // Deno's own default, which is denied.
    allow_import: [
      "jsr.io:443",
      "deno.land:443",
      "esm.sh:443",
      "raw.esm.sh:443",
      "cdn.jsdelivr.net:443",
      "raw.githubusercontent.com:443",
      "gist.githubusercontent.com:443",
    ],
  };
}

Deno.test("D3 the environment that may be read is the one that the code asks for", async () => {
  const asked = new Set<string>();
  for (const folder of ["cmd", "kube", "operator", "tailscale", "telemetry", "extension"]) {
    for await (const text of sourcesIn(`${ROOT}${folder}`)) {
      const named = text.matchAll(/\benv(?:\.get)?\(\s*"([A-Z][A-Z0-9_]+)"|\benv: "([A-Z0-9_]+)"/g);
      for (const [, called, declared] of named) asked.add(called ?? declared ?? "");
    }
  }
  asked.delete("USERPROFILE"); // Windows, where nothing of this is built
  assertEquals([...asked].sort(), [...ENVIRONMENT].sort(), "see ENVIRONMENT in permissions.ts");
});

async function* sourcesIn(folder: string): AsyncIterable<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory && name !== "testing" && name !== "testdata") yield* sourcesIn(path);
    else if (/(?<!_test)\.ts$/.test(name)) yield await Deno.readTextFile(path);
  }
}

Deno.test("D3 standalone works with these flags alone", async () => {
  const ports = [`--extension-port=${freePort()}`, `--http-port=${freePort()}`];
  const program = new RunningProgram(["standalone", ...ports], { flags: PERMISSIONS });
  try {
    await program.wrote("Ctrl-C ends it.");
  } finally {
    assertEquals(await program.end("SIGINT"), 0, program.output);
  }
  assert(!/NotCapable|Requires \w+ access/.test(program.output), program.output);
});

Deno.test("D3 the operator works with these flags alone, its kubeconfig in the folder that it is started in", async () => {
  const api = new EmbeddedApiServer().serve();
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/kubeconfig`, JSON.stringify(kubeconfigOf(api.url)));
    const [grpc, http] = [freePort(), freePort()];
    const addresses = [
      `--extension-address=127.0.0.1:${grpc}`,
      `--http-address=127.0.0.1:${http}`,
    ];
    const args = ["run", "--kubeconfig=kubeconfig", ...addresses];
    const program = new RunningProgram(args, { flags: PERMISSIONS, cwd: folder });
    try {
      await program.wrote(`"ready"`);
      const ready = await fetch(`http://127.0.0.1:${http}/ready`);
      assertEquals([ready.status, (await ready.text()).trim()], [200, "ok"]);
    } finally {
      assertEquals(await program.end("SIGTERM"), 0, program.output);
    }
    assert(!/NotCapable|Requires \w+ access/.test(program.output), program.output);
  } finally {
    await api.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("D3 what lies where it may not read is named, and what to do", async () => {
  const message = "the program may read only the folder that it is started in";
  for (const args of [["standalone", "/etc"], ["run", "--kubeconfig=/etc/passwd"]]) {
    const { code, stderr } = await runProgram(args, { flags: PERMISSIONS });
    assertEquals(code, 1);
    assertStringIncludes(stderr, message);
  }
});

function kubeconfigOf(server: string) {
  return {
    clusters: [{ name: "embedded", cluster: { server } }],
    users: [{ name: "me", user: { token: "any" } }],
    contexts: [{ name: "me", context: { cluster: "embedded", user: "me" } }],
    "current-context": "me",
  };
}
