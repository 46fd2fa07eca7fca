/** Keys, certificates and kubeconfigs of the control plane. */
import { join } from "node:path";
import { API_SERVER, HOST_IP, KUBERNETES_IP } from "./addresses.ts";
import { run } from "./command.ts";

/** Ten years: the cache keeps them. */
const DAYS = "3650";

/** Makes them all in `dir`. */
export async function makePki(dir: string): Promise<void> {
  await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(dir, name);
  for (const name of ["ca", "server", "sa"]) await makeKey(file(`${name}.key`));
  await run([
    ..."openssl req -x509 -new -subj /CN=testbed-ca -addext basicConstraints=critical,CA:TRUE"
      .split(" "),
    ..."-addext keyUsage=critical,keyCertSign,cRLSign".split(" "),
    ...["-days", DAYS, "-key", file("ca.key"), "-out", file("ca.crt")],
  ]);
  await makeServerCertificate(dir);
  await run(["openssl", "ec", "-in", file("sa.key"), "-pubout", "-out", file("sa.pub")]);
  await writeTokens(dir);
}

const makeKey = (file: string) =>
  run([..."openssl ecparam -name prime256v1 -genkey -noout -out".split(" "), file]);

async function makeServerCertificate(dir: string): Promise<void> {
  const names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
    .concat("kubernetes.default.svc.cluster.local").map((name) => `DNS:${name}`);
  const addresses = ["127.0.0.1", KUBERNETES_IP, HOST_IP].map((ip) => `IP:${ip}`);
  const request = join(dir, "server.csr");
  const extensions = join(dir, "server.ext");
  await Deno.writeTextFile(
    extensions,
    `basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth\n` +
      `subjectAltName=${[...names, ...addresses].join(",")}\n`,
  );
  await run([
    ..."openssl req -new -subj /CN=kube-apiserver -key".split(" "),
    ...[join(dir, "server.key"), "-out", request],
  ]);
  await run([
    ..."openssl x509 -req -CAcreateserial -in".split(" "),
    ...[request, "-CA", join(dir, "ca.crt"), "-CAkey", join(dir, "ca.key"), "-days", DAYS],
    ...["-extfile", extensions, "-out", join(dir, "server.crt")],
  ]);
}

/** Two users that the API server knows by token: a person, and its controllers. */
async function writeTokens(dir: string): Promise<void> {
  const admin = crypto.randomUUID();
  const controllers = crypto.randomUUID();
  await Deno.writeTextFile(
    join(dir, "tokens.csv"),
    `${admin},admin,admin,"system:masters"\n` +
      `${controllers},system:kube-controller-manager,controllers\n`,
  );
  const ca = new TextEncoder().encode(await Deno.readTextFile(join(dir, "ca.crt"))).toBase64();
  await Deno.writeTextFile(join(dir, "admin.kubeconfig"), kubeconfig(ca, admin));
  await Deno.writeTextFile(join(dir, "controllers.kubeconfig"), kubeconfig(ca, controllers));
}

/** A kubeconfig for the testbed's API server. `ca` is base64 of PEM. */
export function kubeconfig(ca: string, token: string): string {
  return `apiVersion: v1
kind: Config
current-context: testbed
clusters:
- name: testbed
  cluster: {server: "${API_SERVER}", certificate-authority-data: ${ca}}
users:
- name: testbed
  user: {token: ${token}}
contexts:
- name: testbed
  context: {cluster: testbed, user: testbed}
`;
}
