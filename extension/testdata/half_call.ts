/**
 * A gRPC call whose request is sent in two halves, to have a call that runs. It
 * speaks HTTP/2 (RFC 9113) itself, so that what it sees is what the server sent.
 *
 * @module
 */
import { SERVICE } from "../registry.ts";
import { concat } from "../wire/splicer.ts";

const DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7;
const END_STREAM = 1, ACK = 1, END_HEADERS = 4;

/** How a call ended: `answered` is a response with trailers. */
export type CallEnd = "answered" | "reset" | "closed";

/** A call that has begun and waits for the rest of its request. */
export interface HalfCall {
  /** Sends the rest of the request. */
  finish(): Promise<void>;
  readonly end: Promise<CallEnd>;
  /** Resolves at the server's GOAWAY. */
  readonly goaway: Promise<void>;
  close(): void;
}

/** Begins a call of PostTranslateModify; resolves when the server has its first half. */
export async function beginCall(port: number, message: Uint8Array): Promise<HalfCall> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const writer = conn.writable.getWriter();
  const events = readFrames(conn.readable);
  const body = new Uint8Array(5 + message.length);
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, 5);
  const half = body.length >> 1;
  await writer.write(concat([
    new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(SETTINGS, 0, 0, new Uint8Array()),
    frame(HEADERS, END_HEADERS, 1, requestHeaders()),
    frame(DATA, 0, 1, body.subarray(0, half)),
    frame(PING, 0, 0, new Uint8Array(8)),
  ]));
  // The server's answer to the ping comes after it has read what was sent before.
  await events.pong;
  return {
    end: events.end,
    goaway: events.goaway,
    finish: () => writer.write(frame(DATA, END_STREAM, 1, body.subarray(half))),
    close: () => closeOnce(conn),
  };
}

function readFrames(readable: ReadableStream<Uint8Array>) {
  const end = Promise.withResolvers<CallEnd>();
  const pong = Promise.withResolvers<void>(), goaway = Promise.withResolvers<void>();
  const onFrame = (type: number, flags: number) => {
    if (type === PING && flags & ACK) pong.resolve();
    if (type === GOAWAY) goaway.resolve();
    if (type === RST_STREAM) end.resolve("reset");
    if (type === HEADERS && flags & END_STREAM) end.resolve("answered");
  };
  readAll(readable, onFrame).then(() => end.resolve("closed"));
  return { end: end.promise, pong: pong.promise, goaway: goaway.promise };
}

async function readAll(
  readable: ReadableStream<Uint8Array>,
  onFrame: (type: number, flags: number) => void,
): Promise<void> {
  let rest = new Uint8Array();
  try {
    for await (const chunk of readable) {
      rest = concat([rest, chunk]) as Uint8Array<ArrayBuffer>;
      while (rest.length >= 9) {
        const length = rest[0]! << 16 | rest[1]! << 8 | rest[2]!;
        if (rest.length < 9 + length) break;
        onFrame(rest[3]!, rest[4]!);
        rest = rest.subarray(9 + length);
      }
    }
  } catch {
    // A connection that was closed, by either side, has ended.
  }
}

/** Deno closes a connection by itself when its readable side has ended. */
function closeOnce(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const header = [length >> 16, length >> 8 & 0xff, length & 0xff, type, flags, 0, 0, 0, stream];
  return concat([new Uint8Array(header), payload]);
}

/** Headers as literals that are neither indexed nor Huffman coded (RFC 7541 §6.2.2). */
function requestHeaders(): Uint8Array {
  const text = (value: string) =>
    concat([new Uint8Array([value.length]), new TextEncoder().encode(value)]);
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": `/${SERVICE}/PostTranslateModify`,
    ":authority": "localhost",
    "content-type": "application/grpc",
    te: "trailers",
  };
  return concat(
    Object.entries(headers).flatMap((
      [name, value],
    ) => [new Uint8Array(1), text(name), text(value)]),
  );
}
