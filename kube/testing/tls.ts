/**
 * A TLS server of this folder's tests that asks for a client certificate. Its key and
 * certificates lie in `testdata/`, valid for a hundred years; no one else trusts them.
 *
 * @module
 */
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { configMap } from "./scripted.ts";

/** A file of `testdata/`. */
export function certificate(file: string): string {
  return Deno.readTextFileSync(new URL(`../testdata/${file}`, import.meta.url));
}

/** Answers list, watch and patch with one object, named as the client's certificate says. */
export class TlsServer implements AsyncDisposable {
  readonly url: Promise<string>;
  /** A user who is answered 401. */
  refused = "";
  readonly #server: Server;

  constructor() {
    this.#server = createServer({
      key: certificate("server.key"),
      cert: certificate("server.crt"),
      ca: certificate("ca.crt"),
      requestCert: true,
      rejectUnauthorized: false,
    }, (request, response) => {
      const socket = request.socket as TLSSocket;
      const user = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : "";
      const known = user !== "" && user !== this.refused;
      response.writeHead(known ? 200 : 401, { "content-type": "application/json" });
      if (!known) response.end("{}");
      else if (request.url?.includes("watch=")) {
        response.write(JSON.stringify({ type: "ADDED", object: configMap(user, "2") }) + "\n");
      } else if (request.method === "GET") {
        response.end(JSON.stringify({ metadata: {}, items: [configMap(user, "1")] }));
      } else response.end(JSON.stringify(configMap(user, "3")));
    });
    this.url = new Promise((resolve) => {
      this.#server.listen(0, "127.0.0.1", () => {
        resolve(`https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
