/**
 * The process's own metrics, by their usual names. prom-client's collection of
 * defaults is not used: it starts monitors that never stop.
 *
 * @module
 */
import process from "node:process";
import { Counter, Gauge, type Registry } from "prom-client";

/** Adds `process_*` metrics, read at each scrape. */
export function observeProcess(registry: Registry, startedAt: number): void {
  const registers = [registry];
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process started (Unix time).",
    registers,
  }).set(startedAt / 1000);
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory that the process has in RAM.",
    registers,
    collect() {
      this.set(Deno.memoryUsage().rss);
    },
  });
  new Gauge({
    name: "process_heap_bytes",
    help: "JavaScript heap in use.",
    registers,
    collect() {
      this.set(Deno.memoryUsage().heapUsed);
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process, user and system.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}
