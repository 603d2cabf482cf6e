import type { ApiCall, ObserveCall } from "../../control/platform/frame/calls.ts";
import type { Environment } from "../../control/platform/environment.ts";
import type { LineFile } from "../../telemetry/line-file.ts";
import type { ControlPlaneMetrics } from "../../telemetry/control-plane-metrics.ts";
import type { SpanAttributes, Tracing } from "../../telemetry/tracing.ts";

export interface CallObservers {
  readonly metrics?: Pick<ControlPlaneMetrics, "apiRequests" | "apiDuration"> | undefined;
  readonly tracing: Tracing;
  /** Absent: no access log. */
  readonly accessLog?: LineFile | undefined;
}

/** Each request to the API of an environment becomes a count, a span, and a line of the access log. */
export function observeCallsOf(environment: Environment, observers: CallObservers): ObserveCall {
  const { metrics, tracing, accessLog } = observers;
  return ({ traceparent }) => {
    const span = tracing.span("request", traceparent);
    return (call) => {
      const { operation, status, durationMs } = call;
      metrics?.apiRequests.inc({ environment, operation, status: status ?? "none" });
      metrics?.apiDuration.observe({ environment, operation }, durationMs / 1000);
      const failed = status === undefined || status >= 500;
      span.end(
        span.recording ? attributesOf(environment, call) : {},
        failed,
        `${call.method} ${call.path === undefined ? operation : templateOf(call.path)}`,
      );
      accessLog?.write(lineOf(environment, call, span.traceparent));
    };
  };
}

/** The names of OpenTelemetry's semantic conventions, where there is one. */
function attributesOf(environment: Environment, call: ApiCall): SpanAttributes {
  const { method, path, status, code, operation, caller } = call;
  return {
    "http.request.method": method,
    ...(path !== undefined && { "url.path": path, "http.route": templateOf(path) }),
    ...(status !== undefined && { "http.response.status_code": status }),
    ...(code !== undefined && { "error.type": code }),
    "gatehouse.environment": environment,
    "gatehouse.operation": operation,
    "gatehouse.caller": caller.kind,
  };
}

/** The path without ids: few names of spans, however many customers there are. */
function templateOf(path: string): string {
  return path.replace(/\/[a-z]{3}_[0-9a-z]{26}(?=\/|$)/g, "/{id}");
}

function lineOf(environment: Environment, call: ApiCall, traceparent: string | undefined): string {
  const { caller, startedAt, durationMs } = call;
  return JSON.stringify({
    time: new Date(startedAt).toISOString(),
    environment,
    request_id: call.requestId,
    client_ip: call.clientIp,
    caller: { kind: caller.kind, id: caller.id, customer_id: caller.customerId },
    method: call.method,
    operation: call.operation,
    path: call.path,
    protocol: call.protocol,
    status: call.status,
    code: call.code,
    bytes_sent: call.bytes,
    duration_ms: Math.round(durationMs * 10) / 10,
    trace_id: traceparent?.split("-")[1],
  });
}
