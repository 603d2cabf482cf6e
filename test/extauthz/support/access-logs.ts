import { ACCESS_LOGS, encodeWith, loadProtos } from "./protos.ts";

/**
 * The end of a request as Envoy 1.40 sent it, without the `identifier` of a stream's first message: 418 and 5 bytes, with
 * decision `dec_1` and an outcome noted under `gatehouse`.
 */
export const RECORDED_LOG = Buffer.from(
  `EpkDCpYDCpoCEhEKDxIJMTI3LjAuMC4xGKDAAhoRCg8SCTEyNy4wLjAuMRiPpAIqDAjQyobYBhDozO6kATIEEMHYBFoEELb/DmIEEPqQEIoBhAEKgQEKCWdhdGVob3VzZRJ0CkkKB291dGNvbWUSPho8eyJyZXNwb25zZSI6eyJyZXN1bHQiOiJtYXNrZWQiLCJjb3VudCI6MiwicGF0aHMiOlsiJC5zc24iXX19ChYKC2RlY2lzaW9uX2lkEgcaBWRlY18xCg8KBXN0YXRlEgYaBGRvbmWiAREKDxIJMTI3LjAuMC4xGKDAAroBBBCb8hHSASRkZjQ2ZThkOS0yNmM1LTRiNzgtOTYyMS03ZjljYjZlMmI3NjjoAX7wAb0CiAIGEAIaVwgBEgRodHRwGg8xMjcuMC4wLjE6MzczOTEqCi9zb21lL3BhdGgyBG5vZGVKJGRmNDZlOGQ5LTI2YzUtNGI3OC05NjIxLTdmOWNiNmUyYjc2OFjdAniaAiIcCgMIogMQWxgFMg9kaXJlY3RfcmVzcG9uc2VAYQ==`,
  "base64",
);

const envoys = loadProtos("envoys");

type Notes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** What matters of an entry; the rest is as in any. */
export interface EntryParts {
  /** Lua's notes. */
  readonly noted?: Notes;
  /** What the service sent along. */
  readonly decision?: Notes;
  readonly common?: Readonly<Record<string, unknown>>;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
}

/** An entry, by Envoy's own protocol files. */
export function entry({ noted, decision, common, request, response }: EntryParts): Record<string, unknown> {
  const filterMetadata = {
    ...(noted && { gatehouse: struct(noted) }),
    ...(decision && { "envoy.filters.http.ext_authz": struct(decision) }),
  };
  return {
    common_properties: {
      start_time: { seconds: 1_700_000_000, nanos: 500_000_000 },
      time_to_last_downstream_tx_byte: { nanos: 7_500_000 },
      duration: { seconds: 2 },
      metadata: { filter_metadata: { other: struct({ decision_id: "not_ours" }), ...filterMetadata } },
      access_log_type: 6,
      upstream_cluster: "backend",
      ...common,
    },
    protocol_version: 2,
    request: { path: "/x", ...request },
    response: {
      response_code: { value: 200 },
      response_body_bytes: 12,
      response_code_details: "via_upstream",
      ...response,
    },
  };
}

function struct(notes: Notes): object {
  const fields = Object.entries(notes).map(([name, value]) => [name, valueOf(value)] as const);
  return { fields: Object.fromEntries(fields) };
}

function valueOf(value: Notes[string]): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { numberValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return { nullValue: 0 };
}

/** A message with these entries. */
export function message(...entries: readonly EntryParts[]): Buffer {
  return encodeWith(envoys, ACCESS_LOGS, {
    identifier: { node: { id: "n", cluster: "c" }, log_name: "gatehouse" },
    http_logs: { log_entry: entries.map(entry) },
  });
}
