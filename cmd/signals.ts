/**
 * How the process is asked to end.
 *
 * @module
 */

/** A signal that aborts at SIGTERM or SIGINT. A second one ends the process at once. */
export function stopSignal(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) Deno.exit(130);
    controller.abort(new DOMException("the process was asked to end", "AbortError"));
  };
  const names = ["SIGTERM", "SIGINT"] as const;
  for (const name of names) Deno.addSignalListener(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of names) Deno.removeSignalListener(name, onSignal);
    },
  };
}
