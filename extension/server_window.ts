/**
 * How much of a request a client may send before the server has said that it read it.
 *
 * @module
 */
import type { Server } from "@grpc/grpc-js";

/**
 * HTTP/2's own 64 KiB make a request of 2 MB wait for the server forty times. A
 * request of a thousand routes fits whole into this.
 */
export const WINDOW_BYTES: number = 4 * 1024 * 1024;

/** What of grpc-js's `Server` there is no option for (1.14; it has one for clients alone). */
interface ServerInternals {
  readonly commonServerOptions?: { settings?: Record<string, unknown> };
  readonly http2Servers?: ReadonlyMap<{ on(event: "session", listener: OnSession): void }, unknown>;
}

type OnSession = (session: { setLocalWindowSize?(bytes: number): void }) => void;

/**
 * Widens the window of each stream. Call it before the server listens. Where a later
 * grpc-js has other internals, windows stay as they are, and large requests are slower.
 */
export function widenStreams(server: Server): void {
  const { commonServerOptions } = server as unknown as ServerInternals;
  if (!commonServerOptions) return;
  commonServerOptions.settings = {
    ...commonServerOptions.settings,
    initialWindowSize: WINDOW_BYTES,
  };
}

/** Widens the window of each connection, which all its streams share. Call it when the server listens. */
export function widenConnections(server: Server): void {
  for (const http2 of (server as unknown as ServerInternals).http2Servers?.keys() ?? []) {
    http2.on("session", (session) => session.setLocalWindowSize?.(2 * WINDOW_BYTES));
  }
}
