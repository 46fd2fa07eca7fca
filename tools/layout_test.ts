import { assertEquals } from "@std/assert";
import { parse, parseAllDocuments } from "yaml";
import { envoyGatewayConfig } from "../extension/registry.ts";

const ROOT = new URL("../", import.meta.url);
const text = (path: string) => Deno.readTextFile(new URL(path, ROOT));

Deno.test("D5 what a newcomer looks for is at the top", async () => {
  const files = ["deno.json", "main.ts", "mod.ts", "Dockerfile", "README.md"];
  const folders = ["controllers", "extension", "proto", "crds", "tests"];
  for (const name of files) assertEquals((await Deno.stat(new URL(name, ROOT))).isFile, true, name);
  for (const name of folders) {
    assertEquals((await Deno.stat(new URL(name, ROOT))).isDirectory, true, name);
  }
});

Deno.test("D4 the program stands on packages of npm and JSR that deno.json names", async () => {
  const { imports } = JSON.parse(await text("deno.json")) as { imports: Record<string, string> };
  const sources: Record<string, string> = {
    "@kubernetes/client-node": "npm",
    "@grpc/grpc-js": "npm",
    "zod": "npm",
    "protobufjs": "npm",
    "@std/assert": "jsr",
    "@std/log": "jsr",
  };
  for (const [name, registry] of Object.entries(sources)) {
    assertEquals(imports[name]?.split("@")[0]?.split(":")[0], registry, name);
  }
});

interface Values {
  config: {
    envoyGateway: { extensionManager: { service: { fqdn: { hostname: string; port: number } } } };
  };
}

interface Service {
  kind: string;
  metadata: { name: string; namespace: string };
  spec: { ports: { port: number }[] };
}

Deno.test("M248 Envoy Gateway's configuration comes along, and names a Service that is installed", async () => {
  const values = parse(await text("deploy/envoy-gateway-values.yaml")) as Values;
  const { extensionManager } = values.config.envoyGateway;
  const { fqdn } = extensionManager.service;
  assertEquals(extensionManager as unknown, envoyGatewayConfig(fqdn));
  const services = parseAllDocuments(await text("deploy/install.yaml"))
    .map((document) => document.toJS() as Service | null)
    .filter((object) => object?.kind === "Service");
  const named = services.find((service) =>
    fqdn.hostname.startsWith(`${service?.metadata.name}.${service?.metadata.namespace}.svc`)
  );
  assertEquals(named?.spec.ports.some(({ port }) => port === fqdn.port), true);
});
