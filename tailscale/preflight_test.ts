import { assertEquals, assertRejects } from "@std/assert";
import { ScopeMissing } from "./errors.ts";
import { missingScopes, type Probed } from "./preflight.ts";

function probed(refused: string[], scopes?: string[], fault?: Error): Probed {
  const probe = (scope: string) => () => {
    if (fault) return Promise.reject(fault);
    if (!refused.includes(scope)) return Promise.resolve([]);
    return Promise.reject(new ScopeMissing(scope, "no", { what: "GET" }));
  };
  return {
    scopes,
    listDevices: probe("devices:core"),
    listAuthKeys: probe("auth_keys"),
    listServices: probe("services"),
  };
}

Deno.test("what works is not missing, though the token names its scopes otherwise", async () => {
  assertEquals(await missingScopes(probed([], ["some-older-scope"])), []);
  assertEquals(await missingScopes(probed([])), []);
});

Deno.test("what is refused is missing, whatever the token says", async () => {
  const all = ["devices:core", "auth_keys", "services"];
  assertEquals(await missingScopes(probed(["auth_keys"], all)), ["auth_keys"]);
  assertEquals(await missingScopes(probed(all)), all);
});

Deno.test("another failure is thrown on", async () => {
  await assertRejects(() => missingScopes(probed([], [], new Error("down"))), Error, "down");
});
