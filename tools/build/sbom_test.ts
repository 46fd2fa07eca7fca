import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import denoJson from "../../deno.json" with { type: "json" };
import { billOfMaterials, describeProgram, type Materials, type Package } from "./sbom.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Licences that we may ship. */
const PERMISSIVE = ["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "0BSD"];

function pkg(name: string, dependencies: string[] = [], more: Partial<Package> = {}): Package {
  return {
    name,
    version: "1.0.0",
    dependencies,
    integrity: "sha512-AQID",
    licence: "MIT",
    ...more,
  };
}

function materials(packages: Record<string, Package>): Materials {
  const roots = ["a@1.0.0"];
  return {
    version: "0.1.0",
    sha256: "ab",
    deno: "2.9.3",
    roots,
    packages: new Map(Object.entries(packages)),
  };
}

interface Bill {
  readonly serialNumber: string;
  readonly components: readonly {
    readonly purl: string;
    readonly licenses?: readonly {
      license?: { id?: string; name?: string };
      expression?: string;
    }[];
    readonly hashes?: readonly { alg: string; content: string }[];
  }[];
  readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
}

Deno.test("a bill lists what the program can reach, each with its hash and licence", () => {
  const bill = billOfMaterials(materials({
    "a@1.0.0": pkg("a", ["@s/b@1.0.0"]),
    "@s/b@1.0.0": pkg("@s/b", [], { licence: "(MIT OR Apache-2.0)" }),
    "unused@1.0.0": pkg("unused"),
  })) as Bill;
  assertEquals(bill.components.map(({ purl }) => purl), [
    "pkg:github/denoland/deno@v2.9.3",
    "pkg:npm/%40s/b@1.0.0",
    "pkg:npm/a@1.0.0",
  ]);
  assertEquals(bill.components[1]?.licenses, [{ expression: "(MIT OR Apache-2.0)" }]);
  assertEquals(bill.components[2]?.hashes, [{ alg: "SHA-512", content: "010203" }]);
  assertEquals(bill.dependencies[0], {
    ref: "tailscale-gateway",
    dependsOn: ["pkg:github/denoland/deno@v2.9.3", "pkg:npm/a@1.0.0"],
  });
});

Deno.test("a bill of the same materials is the same, and one of others has another number", () => {
  const of = (version: string) =>
    billOfMaterials(materials({ "a@1.0.0": pkg("a", [], { version }) })) as Bill;
  assertEquals(of("1.0.0"), of("1.0.0"));
  assert(of("1.0.0").serialNumber !== of("1.0.1").serialNumber);
  assertMatch(of("1.0.0").serialNumber, /^urn:uuid:\w{8}-\w{4}-8\w{3}-[89ab]\w{3}-\w{12}$/);
});

Deno.test("an integrity that is no SHA-512 is refused rather than mislabelled", () => {
  const weak = materials({ "a@1.0.0": pkg("a", [], { integrity: "sha1-AQID" }) });
  assertThrows(() => billOfMaterials(weak), TypeError, "sha1");
});

Deno.test("D1 every package of the program is pinned by SHA-512 and has a licence that lets us ship it", async () => {
  const program = { version: denoJson.version, sha256: "00" };
  const bill = await describeProgram(ROOT, program) as Bill;
  const packages = bill.components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
  assert(packages.some(({ purl }) => purl.startsWith("pkg:npm/%40grpc/grpc-js@")));
  assertEquals(packages.filter(({ purl }) => purl.includes("fast-check")), [], "of tests alone");
  for (const { purl, licenses = [], hashes = [] } of packages) {
    assertEquals(hashes.map(({ alg, content }) => [alg, content.length]), [["SHA-512", 128]], purl);
    const id = licenses[0]?.license?.id ?? licenses[0]?.expression ?? "none";
    assert(PERMISSIVE.includes(id), `${purl} is under ${id}`);
  }
});
