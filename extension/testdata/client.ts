/**
 * A gRPC client of the extension service for tests.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { SERVICE } from "../registry.ts";

/** Calls the hooks of a server on this machine. */
export class TestClient {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
      // A connection of its own for each client.
      "grpc.use_local_subchannel_pool": 1,
      // grpc-js 1.14 repeats a call on a destroyed session for ever, in microtasks that
      // let nothing else run.
      "grpc.enable_retries": 0,
    });
  }

  /** @throws {ServiceError} what the server answered. */
  call(method: string, request: Uint8Array): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#client.makeUnaryRequest(
      `/${SERVICE}/${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      (bytes: Buffer) => bytes as Uint8Array,
      request,
      (error, response) => error ? reject(error) : resolve(new Uint8Array(response!)),
    );
    return promise;
  }

  /** The error of a call that must fail. */
  async failure(method: string, request: Uint8Array): Promise<ServiceError> {
    try {
      await this.call(method, request);
    } catch (error) {
      return error as ServiceError;
    }
    throw new Error(`${method} did not fail`);
  }

  close(): void {
    this.#client.close();
  }
}
