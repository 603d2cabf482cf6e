import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import type { Request, Response } from "express";
import { errorCode } from "../../../runtime/error-code.ts";
import { forCaller, itemsForCaller } from "../../../storage/index.ts";
import type { ControlContext } from "../context.ts";
import { ApiError } from "../errors.ts";
import { noteCode } from "./calls.ts";
import { permittedParts, whilePermitted, type Authority } from "./authority.ts";
import type { ExportTurns } from "./export-turns.ts";
import { hasCurrent } from "./etags.ts";
import { errorEnvelope, successEnvelope } from "./envelope.ts";
import type { StoredResponse } from "./idempotency.ts";
import type { Answer, Route } from "./route.ts";
import { requestIdOf } from "./request-id.ts";
import { sendSerialized } from "./serialized.ts";
import { inPieces, StalledError, whileTaken } from "./while-taken.ts";

type SendingContext = Pick<ControlContext, "clock" | "log">;
interface SendingParts {
  readonly authority: Authority;
  readonly context: SendingContext;
  readonly exports: ExportTurns;
}
type DataAnswer = Extract<Answer, { kind: "data" }>;

/**
 * Sends a route's answer through its schema: members that the schema does not have are not sent. An answer in parts is
 * sent only as long as the caller has permission.
 */
export async function sendAnswer(
  route: Route,
  answer: Answer,
  request: Request,
  response: Response,
  parts: SendingParts,
): Promise<void> {
  const { clock } = parts.context;
  switch (answer.kind) {
    case "data":
      if (isHeld(route, answer, request)) {
        setHeaders(response, answer.headers);
        response.status(304).end();
        return;
      }
      sendStored(keptFrom(route, answer, requestIdOf(response), new Date(clock())), response);
      return;
    case "serialized":
      sendSerialized(answer.data, request, response, new Date(clock()));
      return;
    case "redirect":
      setHeaders(response, answer.headers);
      // 303: a browser goes there by GET (RFC 9110, section 15.4.4)
      response.status(303).setHeader("location", answer.location).end();
      return;
    case "page":
      setHeaders(response, answer.headers);
      response.status(answer.status).type("html").send(answer.html);
      return;
    case "lines":
      await sendParts(lines(answer.lines), response, parts, (texts) => {
        response.status(200).type("application/x-ndjson");
        return texts;
      });
      return;
    case "document":
      await sendParts(answer.parts, response, parts, (texts) => {
        response.status(200).type("application/json");
        response.setHeader("content-disposition", `attachment; filename="${answer.name}.json"`);
        return inEnvelope(texts, requestIdOf(response), new Date(clock()));
      });
      return;
    case "refusal":
      throw answer.error;
  }
}

/**
 * Sends an answer part by part, when it is its caller's turn. The first part is read before anything is sent, so that what
 * fails at once gets an error.
 *
 * @param begin - prepares the response
 */
async function sendParts(
  parts: AsyncIterable<string>,
  response: Response,
  { authority, context, exports }: SendingParts,
  begin: (parts: AsyncIterable<string>) => AsyncIterable<string>,
): Promise<void> {
  const turn = await exports.take();
  try {
    const permitted = itemsForCaller(turn.caller, permittedParts(parts, authority));
    const first = await permitted.next();
    await forCaller(turn.caller, () =>
      stream(begin(rest(first, permitted)), response, { authority, context, exports }),
    );
  } finally {
    turn.end();
  }
}

async function* rest(first: IteratorResult<string>, others: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* others;
}

async function stream(
  texts: AsyncIterable<string>,
  response: Response,
  { authority, context: { log }, exports }: SendingParts,
): Promise<void> {
  const permission = whilePermitted(authority);
  const taking = whileTaken(response, exports.longestStallMs);
  const signal = AbortSignal.any([permission.signal, taking.signal]);
  try {
    await pipeline(Readable.from(inPieces(texts)), response, { signal });
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const about = { request_id: requestIdOf(response) };
    if (isClientGone(error)) log.info(about, "the client disconnected during an export");
    else if (error instanceof StalledError) log.info(about, "stopped an export: its receiver takes nothing");
    else if (error instanceof ApiError && error.status < 500)
      log.info({ ...about, code: error.code }, "stopped an export: the caller lost the permission");
    // the headers are sent: only closing the connection can show that it is incomplete
    else log.error({ ...about, err: error }, "an export failed before its end");
    response.destroy();
  } finally {
    permission.release();
    taking.release();
  }
}

async function* inEnvelope(
  parts: AsyncIterable<string>,
  requestId: string,
  now: Date,
): AsyncGenerator<string> {
  const [before, after] = JSON.stringify(successEnvelope(null, requestId, now)).split('"data":null');
  yield `${before ?? ""}"data":`;
  yield* parts;
  yield after ?? "";
}

/** The reader closed the connection, in the meantime or before anything was sent; failures on our side have other codes. */
const CLIENT_GONE: readonly unknown[] = ["ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_UNABLE_TO_PIPE"];

function isClientGone(error: unknown): boolean {
  return CLIENT_GONE.includes(errorCode(error));
}

/** Whether the client has what it would be sent. */
function isHeld({ revalidated }: Route, { headers }: DataAnswer, request: Request): boolean {
  const etag = headers?.["etag"];
  return (
    revalidated === true && typeof etag === "string" && hasCurrent(request.headers["if-none-match"], etag)
  );
}

/**
 * The answer as bytes.
 * @throws if the route does not declare it, which is a defect of the route
 */
export function keptFrom(route: Route, answer: DataAnswer, requestId: string, now: Date): StoredResponse {
  const schema = route.answers[answer.status];
  if (schema === undefined || schema === null)
    throw new Error(`the route ${route.operation} does not declare ${answer.status}`);
  const data = schema.parse(answer.data);
  const body = JSON.stringify(successEnvelope(data, requestId, now, answer));
  return { status: answer.status, body, headers: answer.headers ?? {} };
}

export function sendStored({ status, body, headers }: StoredResponse, response: Response): void {
  setHeaders(response, headers);
  response.status(status).type("application/json").setHeader("content-length", Buffer.byteLength(body));
  // not by Express's `send`, which would answer 304 by an ETag even where something else has changed since
  response.end(body);
}

/**
 * Answers with an error. Whatever a route did not throw on purpose is a defect: it is logged, and its text is not sent.
 */
export function sendError(
  error: ApiError,
  response: Response,
  { clock }: Pick<ControlContext, "clock">,
): void {
  noteCode(response, error.code);
  setHeaders(response, error.headers);
  if (error.status === 401 && !response.hasHeader("www-authenticate"))
    response.setHeader("www-authenticate", 'Bearer realm="gatehouse"');
  response.status(error.status).json(errorEnvelope(error, requestIdOf(response), new Date(clock())));
}

function setHeaders(
  response: Response,
  headers: Readonly<Record<string, string | readonly string[]>> | undefined,
): void {
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
}

async function* lines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
