import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** How a server answers, and what a client must make of it. */
export interface HostileAnswer {
  readonly answer: (response: ServerResponse, elsewhere: string) => void;
  /** Of `customers.get`, of the first page of `customers.list`, and of `events.follow`. One text: of all three. */
  readonly expected: string | readonly [get: string, list: string, follow: string];
  /** How many requests `customers.get` sends with one retry. Default: 1. */
  readonly requests?: number;
  /** Long, and the same for all calls: `customers.get` alone asks for it. */
  readonly isLong?: true;
}

const OK = '{"success":true,"data":{"id":"cus_1"},"meta":{"request_id":"req_1"}}';
const UNREADABLE = "ApiError UNREADABLE_RESPONSE 200";
const ONE_CUSTOMER = ["ok", UNREADABLE, UNREADABLE] as const;
const BUSY =
  '{"success":false,"error":{"code":"SERVICE_UNAVAILABLE","message":"m","details":{}},"meta":{"request_id":"r"}}';
const BUSY_ERROR = "ServerError SERVICE_UNAVAILABLE 503";

const body =
  (text: string | Buffer, headers: Readonly<Record<string, string>> = {}, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  };
/** `follow` repeats it without an end, so it is not asked. */
const busy = (retryAfter: string, requests: number): HostileAnswer => ({
  answer: body(BUSY, { "retry-after": retryAfter }, 503),
  expected: [BUSY_ERROR, BUSY_ERROR, "retried"],
  requests,
});
const redirect = (status: number): HostileAnswer => ({
  answer: (response, elsewhere) => {
    response.writeHead(status, { location: `${elsewhere}/stolen` }).end();
  },
  expected: `ApiError UNREADABLE_RESPONSE ${status}`,
});

/** Sends without an end, as fast as it is read. */
function endless(response: ServerResponse, chunk: Buffer): void {
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", send);
  send();
}

/** By the first part of the path. */
export const HOSTILE_ANSWERS: Readonly<Record<string, HostileAnswer>> = {
  good: { answer: body(OK), expected: ONE_CUSTOMER },
  html: {
    answer: body("<!doctype html><title>Sign in</title>", { "content-type": "text/html" }),
    expected: UNREADABLE,
  },
  "html-error": {
    answer: body("<h1>Bad gateway</h1>", { "content-type": "text/html" }, 502),
    expected: ["ServerError UNREADABLE_RESPONSE 502", "ServerError UNREADABLE_RESPONSE 502", "retried"],
    requests: 2,
  },
  "html-not-found": {
    answer: body("<h1>Not found</h1>", { "content-type": "text/html" }, 404),
    expected: "NotFoundError UNREADABLE_RESPONSE 404",
  },
  // what is not the API's 410 says nothing about cursors
  "html-gone": {
    answer: body("<h1>Gone</h1>", { "content-type": "text/html" }, 410),
    expected: "ApiError UNREADABLE_RESPONSE 410",
  },
  "wrong-type": { answer: body(OK, { "content-type": "text/html; charset=utf-7" }), expected: ONE_CUSTOMER },
  empty: { answer: body(""), expected: UNREADABLE },
  "no-content": {
    answer: (response) => response.writeHead(204).end(),
    expected: "ApiError UNREADABLE_RESPONSE 204",
  },
  // nobody asked whether it has changed
  unchanged: {
    answer: (response) => response.writeHead(304).end(),
    expected: "ApiError UNREADABLE_RESPONSE 304",
  },
  "moved-301": redirect(301),
  "moved-302": redirect(302),
  "moved-307": redirect(307),
  "moved-308": redirect(308),
  endless: {
    answer: (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      endless(response, Buffer.alloc(1 << 20, " "));
    },
    expected: UNREADABLE,
    isLong: true,
  },
  bomb: {
    answer: body(gzipSync(Buffer.alloc(200_000_000, " "), { level: 1 }), { "content-encoding": "gzip" }),
    expected: UNREADABLE,
    isLong: true,
  },
  "not-gzip": {
    answer: body("not gzip", { "content-encoding": "gzip" }),
    expected: ["NetworkError", "NetworkError", "retried"],
    requests: 2,
  },
  "short-body": {
    answer: (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write(OK, () => response.destroy());
    },
    expected: ["NetworkError", "NetworkError", "retried"],
    requests: 2,
  },
  "long-headers": {
    answer: body(OK, { "x-long": "x".repeat(1_000_000) }),
    expected: ["NetworkError", "NetworkError", "retried"],
    requests: 2,
  },
  deep: { answer: body("[".repeat(1_000_000)), expected: UNREADABLE },
  "deep-within": { answer: body(`{"success":true,"data":${"[".repeat(1_000_000)}`), expected: UNREADABLE },
  "not-utf-8": { answer: body(Buffer.from([0x22, 0xff, 0xfe, 0x22])), expected: UNREADABLE },
  null: { answer: body("null"), expected: UNREADABLE },
  list: { answer: body("[]"), expected: UNREADABLE },
  text: { answer: body('"x"'), expected: UNREADABLE },
  "no-data": { answer: body('{"success":true}'), expected: UNREADABLE },
  "no-error": { answer: body('{"success":false}', {}, 400), expected: "ApiError UNREADABLE_RESPONSE 400" },
  "success-and-error": {
    answer: body('{"success":true,"data":{},"error":{"code":"X"}}', {}, 400),
    expected: "ApiError UNREADABLE_RESPONSE 400",
  },
  "data-is-null": { answer: body('{"success":true,"data":null}'), expected: ["ok", UNREADABLE, UNREADABLE] },
  "other-types": {
    answer: body(
      '{"success":true,"data":[],"meta":7,"warnings":{"a":1},"pagination":{"current_page":"1","total_pages":[]}}',
    ),
    expected: ["ok", "ok", UNREADABLE],
  },
  "error-of-other-types": {
    answer: body('{"success":false,"error":{"code":7,"message":{},"details":[]}}', {}, 422),
    expected: "ValidationError UNREADABLE_RESPONSE 422",
  },
  "fields-of-other-types": {
    answer: body(
      '{"success":false,"error":{"code":"VALIDATION_FAILED","message":7,"details":{"fields":7}},"meta":null}',
      {},
      422,
    ),
    expected: "ValidationError VALIDATION_FAILED 422",
  },
  "feed-of-other-types": {
    answer: body('{"success":true,"data":{"events":{},"cursor":7,"more":"yes"}}'),
    expected: ["ok", UNREADABLE, UNREADABLE],
  },
  "limit-of-no-time": {
    answer: body(OK, {
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "5",
      "x-ratelimit-reset": "9".repeat(30),
    }),
    expected: ONE_CUSTOMER,
  },
  // no call waits for longer than it may take
  "wait-for-years": busy("1000000000", 1),
  "wait-for-ever": busy("9".repeat(400), 1),
  "wait-for-a-date": busy("Fri, 31 Dec 9999 23:59:59 GMT", 1),
  // what is no time to wait is not one
  "wait-exponent": busy("1e9", 2),
  "wait-negative": busy("-5", 2),
  "wait-fraction": busy("5.5", 2),
  "wait-text": busy("soon", 2),
  "wait-nothing": busy("", 2),
  "wait-past-date": busy("Sun, 06 Nov 1994 08:49:37 GMT", 2),
  "wait-rfc-850-date": busy("Sunday, 06-Nov-94 08:49:37 GMT", 2),
  "wait-asctime-date": busy("Sun Nov  6 08:49:37 1994", 2),
  "wait-first-year": busy("Mon, 01 Jan 0001 00:00:00 -0000", 2),
  "wait-no-day": busy("Fri, 99 Dec 2026 23:59:59 GMT", 2),
};

export interface HostileServer {
  readonly url: string;
  /** The names of the answers, as often as they were asked for. */
  readonly asked: string[];
  /** What arrived at the other server. */
  readonly stolen: IncomingMessage[];
  close(): Promise<void>;
}

/** A server that answers by the first part of the path, and another one to which it sends its callers. */
export async function startHostileServer(): Promise<HostileServer> {
  const asked: string[] = [];
  const stolen: IncomingMessage[] = [];
  const thief = createServer((request, response) => {
    stolen.push(request);
    body(OK)(response);
  });
  const elsewhere = await listen(thief);
  const server = createServer((request, response) => {
    const name = request.url?.split("/")[1] ?? "";
    asked.push(name);
    HOSTILE_ANSWERS[name]?.answer(response, elsewhere);
  });
  return {
    url: await listen(server),
    asked,
    stolen,
    async close() {
      for (const one of [server, thief]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
