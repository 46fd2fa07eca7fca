/**
 * Histogram buckets of controller-runtime and client-go's work queue, in seconds,
 * so that quantiles compare with those of other operators.
 * Sources: controller-runtime `pkg/internal/controller/metrics` and `pkg/metrics/workqueue`.
 *
 * @module
 */

/** Lengths of reconciles: 5 ms to 1 min. */
// deno-fmt-ignore
export const RECONCILE_BUCKETS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
  1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Waits and work of queues: 10 ns to 1000 s by tens. */
// deno-fmt-ignore
export const QUEUE_BUCKETS: readonly number[] = [
  1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1000,
];
