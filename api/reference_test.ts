import { assert, assertStringIncludes } from "@std/assert";
import { apiReference } from "./reference.ts";
import { KINDS } from "./registry.ts";

const page = apiReference(KINDS);

Deno.test("apiReference() has a row with type, default and meaning for each field", () => {
  assertStringIncludes(page, "| `proxy.replicas` | integer, 0 to 64 | `2` | The proxies of each");
  assertStringIncludes(page, "| `endpoints[].healthCheck.interval` | duration | `10s` |");
  assertStringIncludes(page, "| `oauthSecretName` | string | **required** |");
});

Deno.test("apiReference() tells every rule, reason and column", () => {
  assertStringIncludes(page, "`endpoints[]`: port is required, except with externalTarget.");
  assertStringIncludes(page, "| `HooksNotCalled` | A route names the object");
  assertStringIncludes(page, "| Devices | The devices of the tailnet. |");
});

Deno.test("apiReference() has tables whose rows have as many cells as their heads", () => {
  let cells = 0;
  for (const line of page.split("\n")) {
    const found = line.startsWith("|") ? line.replaceAll("\\|", "").split("|").length : 0;
    assert(cells === 0 || found === 0 || found === cells, line);
    cells = found;
  }
});
