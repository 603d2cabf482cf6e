import { startWorkerPool } from "../../../src/processes/gateway/worker-pool.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";

// A supervisor to be killed. Its arguments: the sockets. It prints its workers' process ids once they serve.
const sockets = process.argv.slice(2);
const log = { info: () => undefined, error: () => undefined };
const pool = startWorkerPool({
  count: sockets.length,
  entry: new URL("./worker.ts", import.meta.url),
  argsFor: (index) => [sockets[index] ?? ""],
  log,
  metrics: createMetrics(),
});
await pool.ready();
process.stdout.write(`${JSON.stringify(pool.workers().map(({ pid }) => pid))}\n`);
