import { isList } from "../json/index.ts";
import type { GraphqlSettingsIR } from "../policy/index.ts";
import type { CanonicalRequest } from "../request/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import { checkNoBody, readWholeBody } from "./body.ts";
import { readMultipart } from "./multipart.ts";
import { checkNoOperation, checkNoParameters, readParameters } from "./parameters.ts";
import { readJson } from "./read-json.ts";
import type { KnownDocuments } from "./persisted.ts";
import { readPayload } from "./read-payload.ts";
import { acceptsEvents } from "./stream.ts";
import {
  GraphqlRefusal,
  malformed,
  overLimit,
  type GraphqlPayload,
  type GraphqlRefused,
  type GraphqlRequest,
  type InputValue,
  type OperationKind,
} from "./types.ts";

/** Maximum number of operations in one request. */
const MAX_BATCH = 10;

/** The parameters that servers agree on: only `charset`, and only UTF-8 (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;
const MULTIPART_TYPE = /^multipart\/form-data[ \t]*;/i;

interface RequestSettings extends Pick<GraphqlSettingsIR, "multipart"> {
  readonly known: KnownDocuments | undefined;
}

/** A request that could be read, or why not. */
export type GraphqlRequestRead =
  ({ readonly ok: true } & GraphqlRequest) | ({ readonly ok: false } & GraphqlRefused);

/**
 * Reads a request to a GraphQL endpoint (GraphQL over HTTP) in the one way in which every server reads it: POST with
 * JSON, or with multipart where that is allowed, and GET and HEAD for queries. Subscriptions are read if the client
 * accepts an event stream. Anything it throws is a bug.
 */
export function readGraphqlRequest(
  request: CanonicalRequest,
  { multipart, documents }: Pick<GraphqlSettingsIR, "multipart" | "documents">,
  sha256: KnownDocuments["sha256"],
): GraphqlRequestRead {
  try {
    return { ok: true, ...read(request, { multipart, known: documents && { documents, sha256 } }) };
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

function read(request: CanonicalRequest, settings: RequestSettings): GraphqlRequest {
  switch (request.method) {
    case "GET":
    case "HEAD":
      checkNoBody(request);
      return withKinds(request, [readParameters(request.query, settings.known)], false, ["query"]);
    case "POST": {
      checkNoParameters(request.query);
      const json = readBody(request, settings);
      const payloads = readOperations(json, settings);
      return withKinds(request, payloads, isList(json), ["query", "mutation"]);
    }
    default:
      return malformed("GraphQL operations must be sent by GET or POST");
  }
}

/**
 * What its transport allows a request: a subscription answers with an event stream, which this response must be; and a
 * response can only be changed if it is the one to this request.
 */
function withKinds(
  request: CanonicalRequest,
  payloads: readonly GraphqlPayload[],
  batch: boolean,
  kinds: readonly OperationKind[],
): GraphqlRequest {
  const here = payloads.every(({ elsewhere }) => elsewhere !== true);
  const streamed = here && !batch && acceptsEvents(request.headers["accept"]);
  return { payloads, batch, kinds: streamed ? [...kinds, "subscription"] : kinds, nullable: here };
}

function readBody(request: CanonicalRequest, { multipart }: RequestSettings): InputValue {
  const [type = "", ...others] = request.headers["content-type"] ?? [];
  if (others.length > 0) malformed("the header `content-type` is repeated");
  if (JSON_TYPE.test(type)) {
    const { text, valid } = decodeUtf8(readWholeBody(request));
    return valid ? readJson(text) : malformed("the body is not UTF-8");
  }
  if (MULTIPART_TYPE.test(type) && multipart === "allow") return readMultipart(type, readWholeBody(request));
  return malformed("the body of a GraphQL request must be `application/json` in UTF-8");
}

function readOperations(json: InputValue, { known }: RequestSettings): readonly GraphqlPayload[] {
  if (!isList(json)) return [readPayload(json, known)];
  if (json.length === 0) malformed("the batch is empty");
  if (json.length > MAX_BATCH) overLimit(`more than ${MAX_BATCH} operations in one request`);
  return json.map((payload) => readPayload(payload, known));
}
