import { main } from "./cmd/cli.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));
