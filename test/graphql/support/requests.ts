import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readGraphqlRequest, type GraphqlRequestRead } from "../../../src/graphql/index.ts";
import { canonicalize, type RawRequest } from "../../../src/request/index.ts";

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly type?: string;
  /** latin1; null: it was not handed over */
  readonly body?: string | null;
  readonly headers?: RawRequest["headers"];
  readonly complete?: boolean;
  readonly multipart?: "allow" | "deny";
  readonly documents?: Readonly<Record<string, string>>;
}

/** Reads a request as it comes over the wire; by default a POST of JSON. */
export function readSent(sent: Sent): GraphqlRequestRead {
  const { method = "POST", target = "/graphql", type, body, headers = [], complete = true } = sent;
  const raw: RawRequest = {
    method,
    target,
    scheme: "https",
    host: "app.test",
    protocol: "HTTP/2",
    headers: [...(type === undefined ? [] : [["content-type", type] as const]), ...headers],
    ...(body !== null && { body: { bytes: Buffer.from(body ?? "", "latin1"), complete } }),
  };
  // what it refuses is refused here, too, where it is switched off
  const canonical = canonicalize(raw, { switchedOff: new Set(["parameter_collision"]) });
  assert.ok(canonical.ok, JSON.stringify(canonical));
  const settings = {
    multipart: sent.multipart ?? "deny",
    ...(sent.documents && { documents: sent.documents }),
  };
  return readGraphqlRequest(canonical.request, settings, (text) =>
    createHash("sha256").update(text).digest("hex"),
  );
}

/** POST of JSON. */
export function posted(json: unknown, sent: Sent = {}): GraphqlRequestRead {
  const body = typeof json === "string" ? json : JSON.stringify(json);
  return readSent({ type: "application/json", body: Buffer.from(body).toString("latin1"), ...sent });
}

/** @returns what was read, or the code of the refusal. */
export function outcomeOf(read: GraphqlRequestRead) {
  return read.ok ? read.payloads : read.code;
}

/** Spellings that some server reads as `query`, `variables` and the like: PHP, Rails, qs, and letters that fold. */
export const ODD_NAMES = [
  "[query]",
  " query",
  "query ",
  ".query",
  "0[query]",
  "0.variables",
  "[0][query]",
  "QUERY",
  "variable\u017f",
  "per\u017fisted_query",
  "query\u212aey",
  "variables[id][in]",
];
