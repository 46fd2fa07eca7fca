import { assertEquals } from "@std/assert";
import { deviceByAddress, deviceByName, type TailnetDevice } from "./device.ts";

function device(name: string, addresses: string[]): TailnetDevice {
  return {
    nodeId: name,
    name,
    hostname: "x",
    addresses,
    tags: [],
    connectedToControl: true,
    isExternal: false,
  };
}

const DEVICES = [
  device("api.tail1.ts.net", ["100.64.0.1", "fd7a:115c:a1e0::1"]),
  device("api-1.tail1.ts.net", ["100.64.0.11"]),
];

Deno.test("deviceByName() takes the full name in any case, with or without a trailing dot", () => {
  for (const name of ["api.tail1.ts.net", "API.Tail1.ts.net.", "api.tail1.ts.net."]) {
    assertEquals(deviceByName(DEVICES, name), DEVICES[0], name);
  }
});

Deno.test("deviceByName() takes no part of a name, and never one with a suffix for one without", () => {
  for (const name of ["", ".", "api", "api.tail1", "api.tail1.ts.net..", "api-2.tail1.ts.net"]) {
    assertEquals(deviceByName(DEVICES, name), undefined, name);
  }
});

Deno.test("deviceByAddress() looks at every address as a whole", () => {
  assertEquals(deviceByAddress(DEVICES, "fd7a:115c:a1e0::1"), DEVICES[0]);
  assertEquals(deviceByAddress(DEVICES, "100.64.0.11"), DEVICES[1]);
  assertEquals(deviceByAddress(DEVICES, "100.64.0"), undefined);
});
