import { main } from "./cmd/cli.ts";
import { endAtUncaught } from "./cmd/crash.ts";

if (import.meta.main) {
  endAtUncaught();
  Deno.exit(await main(Deno.args));
}
