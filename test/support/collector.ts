import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import protobuf from "protobufjs";

/** The part of opentelemetry/proto/collector/trace/v1 that is looked at. */
const OTLP = protobuf
  .parse(
    `
  syntax = "proto3";
  message Export { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; uint32 kind = 6;
    repeated KeyValue attributes = 9; Status status = 15;
  }
  message Status { uint32 code = 3; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
`,
  )
  .root.lookupType("Export");

export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes?: readonly { key: string; value: object }[];
  readonly status?: { code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

/** An OTLP/HTTP collector that keeps what it gets; with `silent`, it never answers. */
export async function startCollector({ silent = false } = {}) {
  const exports: Export[] = [];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push(`${request.method} ${request.url} ${request.headers["content-type"]}`);
      const message = OTLP.decode(Buffer.concat(chunks));
      exports.push(OTLP.toObject(message, { bytes: String, longs: Number }) as Export);
      if (!silent) response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    exports,
    spans: () =>
      exports.flatMap((one) => one.resourceSpans.flatMap((r) => r.scopeSpans.flatMap((s) => s.spans))),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function hex(base64: string | undefined): string {
  return Buffer.from(base64 ?? "", "base64").toString("hex");
}
