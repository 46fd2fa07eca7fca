import { assertEquals, assertRejects } from "@std/assert";
import { checkArchitecture, LIMITS } from "./check_architecture.ts";

/** Checks a tree that is made of these files. */
async function check(files: Record<string, string>): Promise<string[]> {
  const root = await Deno.makeTempDir();
  try {
    for (const [path, source] of Object.entries(files)) {
      const file = `${root}/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(file, source);
    }
    return await checkArchitecture(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const problemsOf = async (path: string, source: string) => await check({ [path]: source });

Deno.test("a tree that follows the arrows has no problems", async () => {
  assertEquals(
    await check({
      "core/names.ts": 'import { createHash } from "node:crypto";\nexport const a = createHash;\n',
      "api/kind.ts":
        'import { a } from "../core/names.ts";\nimport { z } from "zod";\nexport { a, z };\n',
      "controllers/tailnet/plan.ts": 'export { a } from "../../api/kind.ts";\n',
      "controllers/tailnet/plan_test.ts": 'import "../../kube/client.ts";\nDeno.exit();\n',
      "extension/hooks/translation.ts": 'export * from "../../proto/codec.ts";\n',
      "extension/server.ts":
        'import type { Log } from "../telemetry/log.ts";\nimport "./hooks/translation.ts";\nconsole.log();\nexport type L = Log;\n',
      "proto/codec.ts": 'import protobuf from "protobufjs/light.js";\nexport { protobuf };\n',
      "extension/testdata/messages.ts": 'import "fast-check";\nimport "../../kube/client.ts";\n',
      "kube/client.ts": 'import "../core/names.ts";\nawait fetch("x");\n',
      "telemetry/log.ts": "export interface Log {}\n",
      "operator/run.ts": 'import "../kube/client.ts";\nimport "../controllers/tailnet/plan.ts";\n',
      "cmd/run.ts": 'import "../operator/run.ts";\n',
      "main.ts": 'import "./cmd/run.ts";\n',
      "mod.ts": 'export * from "./api/kind.ts";\n',
      "tests/e2e/x.ts": 'import "../../cmd/run.ts";\n',
    }),
    [],
  );
});

Deno.test("an arrow against the design is named with its line", async () => {
  const table: [string, string, string][] = [
    ["core/a.ts", "../api/kind.ts", "core"],
    ["api/a.ts", "../kube/client.ts", "api"],
    ["backends/a.ts", "../extension/snapshot.ts", "backends"],
    ["controllers/x/plan.ts", "../../tailscale/client.ts", "controllers"],
    ["extension/hooks/a.ts", "../server.ts", "extension"],
    ["extension/hooks/a.ts", "../../telemetry/log.ts", "extension"],
    ["extension/server.ts", "../telemetry/log.ts", "extension server"],
    ["kube/a.ts", "../api/kind.ts", "kube"],
    ["kube/a.ts", "./testing.ts", "kube"],
    ["tailscale/a.ts", "../kube/client.ts", "tailscale"],
    ["telemetry/a.ts", "../controllers/x/plan.ts", "telemetry"],
    ["embedded/a.ts", "../operator/cache.ts", "embedded"],
    ["operator/a.ts", "../cmd/run.ts", "operator"],
    ["main.ts", "./operator/run.ts", "main.ts"],
    ["mod.ts", "./kube/client.ts", "mod.ts"],
  ];
  for (const [path, specifier, area] of table) {
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
    const source = `// first line\nimport { x } from "${specifier}";\nexport { x };\n`;
    assertEquals(await problemsOf(path, source), [`${path}:2: ${area} may not import ${target}`]);
  }
});

Deno.test("every form of import is an arrow", async () => {
  const source = [
    'import type { A } from "../kube/a.ts";',
    'export { b } from "../kube/b.ts";',
    'export * from "../kube/c.ts";',
    'export const d = () => import("../kube/d.ts");',
    'export type E = import("../kube/e.ts").E | A;',
    'import "../kube/f.ts";',
  ].join("\n");
  const targets = ["a", "b", "c", "d", "e", "f"];
  assertEquals(
    await problemsOf("core/x.ts", source),
    targets.map((name, i) => `core/x.ts:${i + 1}: core may not import kube/${name}.ts`),
  );
});

Deno.test("a pure area may not touch the world", async () => {
  const uses: [string, string][] = [
    ["Deno.cwd()", "Deno"],
    ["Deno", "Deno"],
    ['fetch("x")', "fetch"],
    ["{ fetch }", "fetch"],
    ["{ get: fetch }", "fetch"],
    ["Date.now()", "Date.now"],
    ['Date["now"]()', "Date.now"],
    ["new Date()", "new Date()"],
    ["Date()", "Date()"],
    ["Math.random()", "Math.random"],
    ["crypto.randomUUID()", "crypto.randomUUID"],
    ["setTimeout(() => {}, 1)", "setTimeout"],
    ["setInterval(() => {}, 1)", "setInterval"],
    ["console.log()", "console"],
    ["globalThis", "globalThis"],
    ["performance.now()", "performance"],
    ["`a ${Deno.pid}`", "Deno"],
  ];
  const source = uses.map(([code], i) => `export const x${i} = ${code};`).join("\n");
  assertEquals(
    await problemsOf("core/x.ts", source),
    uses.map(([, name], i) => `core/x.ts:${i + 1}: core is pure: no ${name}`).sort(),
  );
});

Deno.test("what only looks impure is no problem", async () => {
  const source = [
    "/** Deno, fetch and Date.now() in a comment. */",
    'export const text = "Deno.cwd() fetch console" + `setTimeout Math.random()`;',
    "export const pattern = /Deno.*fetch/;",
    "export const time = new Date(0), parsed = Date.parse(text), half = Math.floor(0.5);",
    "export class Client { fetch() { return this.fetch; } setTimeout = 1; get console() { return 1; } }",
    "export interface Options { fetch: string; console?: number; setTimeout(): void }",
    "export const options = { fetch: 1, Deno: 2, console: 3 };",
    "export function run(process: (x: number) => void) { process(1); }",
  ].join("\n");
  assertEquals(await problemsOf("core/x.ts", source), []);
});

Deno.test("a pure area may import pure packages, and types of any", async () => {
  const source = [
    'import { isIP } from "node:net";',
    'import { connect } from "node:net";',
    'import type { Logger } from "@std/log";',
    'import { type LogRecord } from "@std/log";',
    'import { getLogger } from "@std/log";',
    'import "@grpc/grpc-js";',
    'import "constructor";',
    "export { connect, getLogger, isIP };",
    "export type { Logger, LogRecord };",
  ].join("\n");
  assertEquals(await problemsOf("api/x.ts", source), [
    'api/x.ts:2: api is pure: no import of "node:net"',
    'api/x.ts:5: api is pure: no import of "@std/log"',
    'api/x.ts:6: api is pure: no import of "@grpc/grpc-js"',
    'api/x.ts:7: api is pure: no import of "constructor"',
  ]);
});

Deno.test("imports that go in a circle are named once; a circle of types is none", async () => {
  assertEquals(
    await check({
      "kube/b.ts": 'import "./c.ts";',
      "kube/c.ts": 'import "./a.ts";',
      "kube/a.ts": 'import "./b.ts";\nimport "./self.ts";',
      "kube/self.ts": 'import "./self.ts";',
      "kube/d.ts": 'import "./e.ts";',
      "kube/e.ts": 'import type { D } from "./d.ts";\nexport type E = D;',
    }),
    [
      "imports go in a circle: kube/a.ts → kube/b.ts → kube/c.ts → kube/a.ts",
      "imports go in a circle: kube/self.ts → kube/self.ts",
    ],
  );
});

Deno.test("files and functions have a size, from which tests and generated files are free", async () => {
  const body = (lines: number) => "\n".repeat(lines - 1);
  const atLimit = [
    `export function f() {${body(LIMITS.functionLines)}}`,
    `export const g = () => {${body(LIMITS.functionLines)}};`,
  ].join("\n");
  assertEquals(await problemsOf("kube/a.ts", atLimit), []);
  const over = [
    `export function f() {${body(LIMITS.functionLines + 1)}}`,
    `export class C { m() {${body(LIMITS.functionLines + 1)}} }`,
    "export const h = (a, b, c, d, e, f) => [a, b, c, d, e, f];",
    body(LIMITS.fileLines + 1 - 2 * (LIMITS.functionLines + 1)),
  ].join("\n");
  assertEquals(await problemsOf("kube/a.ts", over), [
    "kube/a.ts: 301 lines; at most 300, split by topic",
    "kube/a.ts:1: f() has 41 lines; at most 40",
    "kube/a.ts:42: m() has 41 lines; at most 40",
    "kube/a.ts:83: h() has 6 parameters; at most 5",
  ]);
  assertEquals(await problemsOf("kube/a_test.ts", over), []);
  assertEquals(await problemsOf("kube/a.ts", `// Generated by tools/x.ts.\n${over}`), []);
});

Deno.test("a folder that the table does not know is a problem", async () => {
  assertEquals(await problemsOf("misc/a.ts", ""), [
    "misc/a.ts: in no area; add its folder to AREAS of tools/check_architecture.ts",
  ]);
});

Deno.test("a file cannot hide from the check", async () => {
  assertEquals(
    await problemsOf("core/a.ts", '// deno-lint-ignore-file\nimport "../kube/a.ts";\n'),
    [
      "core/a.ts: hides from the check by a deno-lint-ignore-file",
    ],
  );
});

Deno.test("a file that does not parse is an error that names it", async () => {
  const error = await assertRejects(() => problemsOf("core/a.ts", "const = ;"), Error, "core/a.ts");
  assertEquals(error.message.startsWith("deno lint cannot read"), true);
});
