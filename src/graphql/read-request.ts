import { isList } from "../json/index.ts";
import type { GraphqlSettingsIR } from "../policy/index.ts";
import type { CanonicalRequest } from "../request/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import { checkNoBody, readWholeBody } from "./body.ts";
import { readMultipart } from "./multipart.ts";
import { checkNoOperation, checkNoParameters, readParameters } from "./parameters.ts";
import { readJson } from "./read-json.ts";
import { readPayload } from "./read-payload.ts";
import {
  GraphqlRefusal,
  malformed,
  overLimit,
  type GraphqlPayload,
  type GraphqlRefused,
  type GraphqlRequest,
  type InputValue,
} from "./types.ts";

/** Maximum number of operations in one request. */
const MAX_BATCH = 10;

/** The parameters that servers agree on: only `charset`, and only UTF-8 (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;
const MULTIPART_TYPE = /^multipart\/form-data[ \t]*;/i;

/** A request that could be read, or why not. */
export type GraphqlRequestRead =
  ({ readonly ok: true } & GraphqlRequest) | ({ readonly ok: false } & GraphqlRefused);

/**
 * Reads a request to a GraphQL endpoint (GraphQL over HTTP) in the one way in which every server reads it: POST with
 * JSON, or with multipart where that is allowed, and GET and HEAD for queries. Subscriptions are not supported over
 * this transport. Anything it throws is a bug.
 */
export function readGraphqlRequest(
  request: CanonicalRequest,
  settings: Pick<GraphqlSettingsIR, "multipart">,
): GraphqlRequestRead {
  try {
    return { ok: true, ...read(request, settings) };
  } catch (error) {
    if (error instanceof GraphqlRefusal) return { ok: false, code: error.code, message: error.message };
    throw error;
  }
}

/**
 * Reads a WebSocket handshake to a GraphQL endpoint: operations come later as messages; the handshake must not contain
 * one.
 *
 * @returns why it is refused; `undefined` if it contains no operation
 */
export function refuseOperationIn({ query }: Pick<CanonicalRequest, "query">): GraphqlRefused | undefined {
  try {
    checkNoOperation(query);
    return undefined;
  } catch (error) {
    if (error instanceof GraphqlRefusal) return { code: error.code, message: error.message };
    throw error;
  }
}

/** Whether a request by GET or HEAD has nothing in its URL or body that could be an operation, or choose one. */
export function carriesNoOperation(request: CanonicalRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  try {
    checkNoBody(request);
  } catch (error) {
    if (error instanceof GraphqlRefusal) return false;
    throw error;
  }
  return refuseOperationIn(request) === undefined;
}

function read(
  request: CanonicalRequest,
  { multipart }: Pick<GraphqlSettingsIR, "multipart">,
): GraphqlRequest {
  switch (request.method) {
    case "GET":
    case "HEAD":
      checkNoBody(request);
      return { payloads: [readParameters(request.query)], batch: false, kinds: ["query"], nullable: true };
    case "POST":
      checkNoParameters(request.query);
      return { ...readBody(request, multipart), kinds: ["query", "mutation"], nullable: true };
    default:
      return malformed("GraphQL operations must be sent by GET or POST");
  }
}

function readBody(
  request: CanonicalRequest,
  multipart: GraphqlSettingsIR["multipart"],
): Pick<GraphqlRequest, "payloads" | "batch"> {
  const [type = "", ...others] = request.headers["content-type"] ?? [];
  if (others.length > 0) malformed("the header `content-type` is repeated");
  if (JSON_TYPE.test(type)) {
    const { text, valid } = decodeUtf8(readWholeBody(request));
    if (!valid) malformed("the body is not UTF-8");
    return readOperations(readJson(text));
  }
  if (MULTIPART_TYPE.test(type) && multipart === "allow") {
    return readOperations(readMultipart(type, readWholeBody(request)));
  }
  return malformed("the body of a GraphQL request must be `application/json` in UTF-8");
}

function readOperations(json: InputValue): { payloads: readonly GraphqlPayload[]; batch: boolean } {
  if (!isList(json)) return { payloads: [readPayload(json)], batch: false };
  if (json.length === 0) malformed("the batch is empty");
  if (json.length > MAX_BATCH) overLimit(`more than ${MAX_BATCH} operations in one request`);
  return { payloads: json.map(readPayload), batch: true };
}
