import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The only metrics of a control plane that runs in its own process. */
export function createControlPlaneMetrics() {
  const registry = new Registry();
  return { registry, ...controlPlaneMetrics([registry]) };
}

/** Metrics of a control plane, in its own process or in a gateway's. */
export function controlPlaneMetrics(registers: Registry[]) {
  return {
    policyReloadFailed: new Gauge({
      name: "gatehouse_policy_reload_failed",
      help: "1 while the newest content of a policy source (folder, control_plane) cannot be put in force; gatehouse_policy_set_info shows the set in force, if any. With an environment: a folder that the control plane publishes.",
      labelNames: ["source", "environment"] as const,
      registers,
    }),
    gateways: new Gauge({
      name: "gatehouse_gateways",
      help: "Gateways that report to this control plane, by environment and status (alive, lagging, diverged, lost).",
      labelNames: ["environment", "status"] as const,
      registers,
    }),
    poolExhausted: new Counter({
      name: "gatehouse_database_pool_exhausted_total",
      help: "Timeouts waiting for a database connection of the control plane in this process, by environment and workload (api, feed, analytics, intake, keys); such requests are answered with 503.",
      labelNames: ["environment", "workload"] as const,
      registers,
    }),
    apiRequests: new Counter({
      name: "gatehouse_api_requests_total",
      help: "Requests to the API of the control plane in this process, by environment, operation (as in the OpenAPI document; oauth, well_known, health or other outside of it) and status (none if the client left before an answer).",
      labelNames: ["environment", "operation", "status"] as const,
      registers,
    }),
    apiDuration: new Histogram({
      name: "gatehouse_api_request_duration_seconds",
      help: "Time from a request to the API until its answer is sent, by environment and operation. Gateways wait in followState until something changes.",
      labelNames: ["environment", "operation"] as const,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    apiRefusals: new Counter({
      name: "gatehouse_api_refused_calls_total",
      help: "Requests to the API that were refused with 401 or 403, or because of another customer, by environment and what became of their record: recorded, rate (there were too many of their caller, which are counted in one record), failed (the database did not take it).",
      labelNames: ["environment", "record"] as const,
      registers,
    }),
    accessLogDropped: new Counter({
      name: "gatehouse_api_access_log_dropped_total",
      help: "Lines of `api.access_log` that could not be written.",
      registers,
    }),
    webhooks: new Gauge({
      name: "gatehouse_webhooks",
      help: "Webhooks, by environment and state (active; paused: the receiver does not answer, and is tried again; disabled).",
      labelNames: ["environment", "state"] as const,
      registers,
    }),
    deliveriesWaiting: new Gauge({
      name: "gatehouse_webhook_deliveries_waiting",
      help: "Webhook deliveries that are pending or in progress, by environment; 10,000 stands for any larger number.",
      labelNames: ["environment"] as const,
      registers,
    }),
    deliveryDelay: new Gauge({
      name: "gatehouse_webhook_delivery_delay_seconds",
      help: "How long the delivery that is most overdue has been due, of webhooks that are neither paused nor disabled, by environment; 0 if none is due.",
      labelNames: ["environment"] as const,
      registers,
    }),
    turnsRefused: new Counter({
      name: "gatehouse_database_turns_refused_total",
      help: "Requests of a caller that got no turn for a database connection of the control plane in this process, by environment, workload (api, analytics, feed, intake) and reason: queue_full (answered with 429) or timeout (503). Other callers are not affected; the log names the caller.",
      labelNames: ["environment", "workload", "reason"] as const,
      registers,
    }),
  };
}

export type ControlPlaneMetrics = ReturnType<typeof controlPlaneMetrics>;
