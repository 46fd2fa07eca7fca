import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MalformedResponse } from "./errors.ts";
import {
  authKeyInfoSchema,
  authKeyListSchema,
  authKeySchema,
  deviceListSchema,
  parseReply,
  serviceHostsSchema,
  serviceListSchema,
  serviceSchema,
  tokenSchema,
} from "./schemas.ts";

const SCHEMAS = {
  deviceListSchema,
  authKeySchema,
  authKeyListSchema,
  authKeyInfoSchema,
  serviceSchema,
  serviceListSchema,
  serviceHostsSchema,
  tokenSchema,
};

const parse: typeof parseReply = (schema, reply, what) => parseReply(schema, reply, what);

function devices(json: unknown) {
  return parse(deviceListSchema, { text: JSON.stringify(json), status: 200 }, "GET /devices");
}

Deno.test("a device comes through with zero times and missing fields made plain", () => {
  const [device] = devices({
    devices: [{
      nodeId: "nA1",
      id: "4411",
      name: "edge-0.tail1a2b.ts.net.",
      hostname: "edge-0",
      addresses: ["100.90.1.7"],
      tags: null,
      lastSeen: null,
      expires: "0001-01-01T00:00:00Z",
      created: "",
      connectedToControl: true,
      somethingNew: { deeply: "unknown" },
    }],
  });
  assertEquals(device, {
    nodeId: "nA1",
    id: "4411",
    name: "edge-0.tail1a2b.ts.net",
    hostname: "edge-0",
    addresses: ["100.90.1.7"],
    tags: [],
    connectedToControl: true,
    authorized: false,
    isExternal: false,
    created: "",
  });
});

Deno.test("a device is known by its older id where it has no other", () => {
  assertEquals(devices({ devices: [{ id: "4411" }] })[0]?.nodeId, "4411");
  assertThrows(() => devices({ devices: [{ name: "x" }] }), MalformedResponse, "devices[0]");
});

Deno.test("an empty list may be null, but may not be missing", () => {
  assertEquals(devices({ devices: null }), []);
  assertThrows(() => devices({}), MalformedResponse, "field devices");
  assertThrows(() => devices(null), MalformedResponse, "the answer is not as documented");
  assertThrows(() => devices([]), MalformedResponse);
});

Deno.test("a wrong type is an error that says where and what to do", () => {
  const bad = [{ nodeId: "a" }, { nodeId: "b", tags: "tag:x" }];
  const error = assertThrows(() => devices({ devices: bad }), MalformedResponse);
  assertEquals(error.path, "devices[1].tags");
  assertEquals(error.what, "GET /devices");
  assertEquals(
    error.message,
    "GET /devices: field devices[1].tags of the answer is not as documented: Invalid input: " +
      "expected array, received string. Is apiURL a Tailscale API?",
  );
});

Deno.test("half of a JSON text, or HTML, is an error that quotes nothing of it", () => {
  for (const text of ['{"id":"k1","key":"canary-', "<html>canary</html>", "", "canary"]) {
    const error = assertThrows(
      () => parse(authKeySchema, { text, status: 200 }, "POST /keys"),
      MalformedResponse,
      "is not JSON",
    );
    assertEquals(Deno.inspect(error).includes("canary"), false);
  }
});

Deno.test("a key of a wrong type is not quoted", () => {
  const text = JSON.stringify({ id: 4711_4711, key: "canary-key" });
  const error = assertThrows(
    () => parse(authKeySchema, { text, status: 200 }, "POST /keys"),
    MalformedResponse,
  );
  assertEquals(error.path, "id");
  assertEquals(/canary|47114711/.test(Deno.inspect(error, { depth: 9 })), false);
});

Deno.test("a service keeps fields that are not known here, and its annotations verbatim", () => {
  const annotations = { "tailscale.com/owner-references": '{"ownerRefs":[]}' };
  const wire = {
    name: "svc:web",
    addrs: ["100.101.0.1"],
    ports: ["tcp:443"],
    tags: ["tag:web"],
    annotations,
    displayName: "Web",
  };
  assertEquals(
    parse(serviceSchema, { text: JSON.stringify(wire), status: 200 }, "GET"),
    wire,
  );
  const text = '{"vipServices":[{"name":"svc:a","comment":null,"annotations":null}]}';
  assertEquals(parse(serviceListSchema, { text, status: 200 }, "GET"), [
    { name: "svc:a", addrs: [], ports: [], tags: [] },
  ]);
});

Deno.test("a token's scopes are read as text with spaces or commas, or as a list, or not at all", () => {
  const scopesOf = (more: Record<string, unknown>) => {
    const text = JSON.stringify({ access_token: "t", ...more });
    const { scopes, expiresInSeconds } = parse(tokenSchema, { text, status: 200 }, "POST");
    return [scopes, expiresInSeconds];
  };
  assertEquals(scopesOf({ scope: "a:b c", expires_in: 60 }), [["a:b", "c"], 60]);
  assertEquals(scopesOf({ scope: "a, b" }), [["a", "b"], 3600]);
  assertEquals(scopesOf({ scope: ["a"] }), [["a"], 3600]);
  assertEquals(scopesOf({}), [undefined, 3600]);
  assertEquals(scopesOf({ scope: "" }), [[], 3600]);
  assertThrows(() => scopesOf({ access_token: "a\nb" }), MalformedResponse, "access_token");
  assertThrows(() => scopesOf({ expires_in: "soon" }), MalformedResponse, "expires_in");
});

Deno.test("whatever JSON or text comes, it is read or it is MalformedResponse", () => {
  const words = ["devices", "keys", "vipServices", "hosts", "id", "name", "nodeId", "access_token"];
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...words), tie("value"), { maxKeys: 4 }),
    ),
  })).value.map((value) => JSON.stringify(value));
  const text = fc.oneof(json, json.map((whole) => whole.slice(0, -1)), fc.string());
  const property = fc.property(text, fc.constantFrom(...Object.values(SCHEMAS)), (text, schema) => {
    try {
      parseReply<unknown>(schema, { text, status: 200 }, "GET /x");
    } catch (error) {
      if (!(error instanceof MalformedResponse)) throw error;
    }
  });
  fc.assert(property, { seed: 30, numRuns: 500 });
});
