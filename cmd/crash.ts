/**
 * How the program ends when something was forgotten: as Deno would end it, but for
 * credentials in what it prints.
 *
 * @module
 */
import { redactText } from "../core/secret.ts";

/** An error with its stack and causes, for people who look for the fault. */
export function crashText(error: unknown): string {
  return redactText(`tailscale-gateway: a fault of its own: ${Deno.inspect(error)}`);
}

/** Ends the program with code 1 at an error that nobody caught. */
export function endAtUncaught(): void {
  const end = (event: Event, error: unknown) => {
    event.preventDefault();
    console.error(crashText(error));
    Deno.exit(1);
  };
  globalThis.addEventListener("error", (event) => end(event, event.error));
  globalThis.addEventListener("unhandledrejection", (event) => end(event, event.reason));
}
