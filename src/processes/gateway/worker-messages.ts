/** From a worker to its supervisor. */
export type WorkerMessage =
  | { readonly type: "serving" }
  | { readonly type: "not_serving" }
  /** The response to `collect_metrics` with the same id. */
  | { readonly type: "metrics"; readonly id: number; readonly metrics: unknown }
  /** Any other message; JSON. */
  | { readonly type: "event"; readonly event: unknown };

/** From the supervisor to a worker. */
export type SupervisorMessage =
  | { readonly type: "drain"; readonly graceMs: number }
  | { readonly type: "collect_metrics"; readonly id: number }
  /** Any other message; JSON. */
  | { readonly type: "message"; readonly message: unknown };
