/**
 * The bill of materials: the packages that the program may load, from the module graph,
 * with the integrity that deno.lock pins and the licences that they declare.
 *
 * Format: https://cyclonedx.org/docs/1.6/json/
 *
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { runCommand } from "./files.ts";

/** An npm package as the graph and the lock file know it. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Identifiers of the packages that it may load. */
  readonly dependencies: readonly string[];
  /** As in deno.lock: `sha512-` and base64. */
  readonly integrity: string;
  /** What its package.json declares. */
  readonly licence?: string;
}

/** What {@linkcode billOfMaterials} is made from. */
export interface Materials {
  /** The program's version. */
  readonly version: string;
  /** SHA-256 of the bundle. */
  readonly sha256: string;
  readonly deno: string;
  /** Identifiers of the packages that the program itself imports. */
  readonly roots: readonly string[];
  readonly packages: ReadonlyMap<string, Package>;
}

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

const PROGRAM = "tailscale-gateway";

/**
 * Packages of which only files are loaded that load no other package, so that what they
 * depend on is not in the program; `kube/start_up_test.ts` holds them to it.
 */
const LOADED_IN_PART: ReadonlySet<string> = new Set(["@kubernetes/client-node"]);

/** The document. The same materials always give the same one: it has neither time nor chance. */
export function billOfMaterials(materials: Materials): object {
  const ids = reachable(materials);
  const refOf = (id: string) => purlOf(materials.packages.get(id)!);
  const runtime = runtimeComponent(materials.deno);
  const components = [runtime, ...ids.map((id) => componentOf(materials.packages.get(id)!))];
  const dependencies = ids.map((id) => ({
    ref: refOf(id),
    dependsOn: materials.packages.get(id)!.dependencies.map(refOf).sort(),
  }));
  const direct = [runtime["bom-ref"], ...materials.roots.map(refOf).sort()];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([materials.sha256, components]))}`,
    version: 1,
    metadata: { component: programComponent(materials) },
    components: byRef(components),
    dependencies: [{ ref: PROGRAM, dependsOn: direct }, ...dependencies],
  };
}

function programComponent({ version, sha256 }: Materials): Component {
  return {
    type: "application",
    "bom-ref": PROGRAM,
    name: PROGRAM,
    version,
    hashes: [{ alg: "SHA-256", content: sha256 }],
    licenses: licencesOf("Apache-2.0"),
  };
}

function runtimeComponent(version: string): Component {
  const purl = `pkg:github/denoland/deno@v${version}`;
  return {
    type: "platform",
    "bom-ref": purl,
    name: "deno",
    version,
    purl,
    licenses: licencesOf("MIT"),
  };
}

function componentOf(found: Package): Component {
  const purl = purlOf(found);
  const [scope, name] = found.name.startsWith("@") ? found.name.split("/") : [];
  return {
    type: "library",
    "bom-ref": purl,
    ...(scope ? { group: scope } : {}),
    name: name ?? found.name,
    version: found.version,
    purl,
    hashes: [{ alg: "SHA-512", content: hexOf(found) }],
    ...(found.licence ? { licenses: licencesOf(found.licence) } : {}),
  };
}

/** https://github.com/package-url/purl-spec */
function purlOf({ name, version }: Package): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function hexOf({ name, integrity }: Package): string {
  const [algorithm, digest = ""] = integrity.split(/-(.*)/s);
  if (algorithm !== "sha512") throw new TypeError(`${name} has an integrity of ${algorithm}`);
  return Uint8Array.fromBase64(digest).toHex();
}

/** One SPDX identifier, an expression of them, or whatever else is declared. */
function licencesOf(licence: string): object[] {
  if (/\s(OR|AND|WITH)\s/.test(licence)) return [{ expression: licence }];
  return [{ license: /^[\w.+-]+$/.test(licence) ? { id: licence } : { name: licence } }];
}

/** What the roots lead to, in the order of the identifiers. */
function reachable({ roots, packages }: Materials): string[] {
  const found = new Set<string>();
  const visit = (id: string) => {
    if (found.has(id)) return;
    found.add(id);
    packages.get(id)?.dependencies.forEach(visit);
  };
  roots.forEach(visit);
  return [...found].sort();
}

function byRef(components: readonly Component[]): Component[] {
  return components.toSorted((a, b) => a["bom-ref"] < b["bom-ref"] ? -1 : 1);
}

/** A UUID of a name, as RFC 9562 has version 8. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = bytes[6]! & 0x0f | 0x80;
  bytes[8] = bytes[8]! & 0x3f | 0x80;
  return bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

interface Graph {
  readonly modules: readonly { readonly kind?: string; readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<
    Record<string, {
      name: string;
      version: string;
      dependencies: readonly string[];
      localPath: string;
    }>
  >;
}

/** Reads what `main.ts` of a tree may load. */
export async function describeProgram(
  root: string,
  { version, sha256 }: { version: string; sha256: string },
): Promise<object> {
  const info = await runCommand([Deno.execPath(), "info", "--json", "main.ts"], root);
  if (!info.ok) throw new Error(`deno info failed:\n${info.stderr}`);
  const { modules, npmPackages } = JSON.parse(info.stdout) as Graph;
  const lock: { npm: Record<string, { integrity: string }> } = JSON.parse(
    await Deno.readTextFile(join(root, "deno.lock")),
  );
  const packages = new Map<string, Package>();
  for (const [id, { name, version, dependencies: all, localPath }] of Object.entries(npmPackages)) {
    const dependencies = LOADED_IN_PART.has(name) ? [] : all;
    const integrity = lock.npm[id]?.integrity;
    if (!integrity) throw new Error(`${id} is in the graph and not in deno.lock`);
    const licence = await licenceIn(localPath);
    packages.set(id, { name, version, dependencies, integrity, ...(licence ? { licence } : {}) });
  }
  const roots = modules.flatMap(({ npmPackage }) => npmPackage ?? []);
  const deno = Deno.version.deno;
  return billOfMaterials({ version, sha256, deno, roots: [...new Set(roots)], packages });
}

async function licenceIn(folder: string): Promise<string | undefined> {
  const { license }: { license?: string | { type?: string } } = JSON.parse(
    await Deno.readTextFile(join(folder, "package.json")),
  );
  return typeof license === "string" ? license : license?.type;
}
