import { createServer, type AddressInfo, type Socket } from "node:net";
import { GIVEN_UP, type DoorCall } from "../decision/point/index.ts";
import type { PromiseOrValue } from "../decision/promise-or-value.ts";
import type { JobLog } from "../runtime/every.ts";
import { inTime } from "../runtime/in-time.ts";
import type { HttpAnswer } from "./answer.ts";
import { createCallers } from "./callers.ts";
import type { HaproxyMessage } from "./haproxy.ts";
import type { AuthorizerRefusal, Authorizers } from "./server.ts";
import {
  FIN,
  FRAME,
  readFrame,
  setVariables,
  SpopReader,
  writeFrame,
  writeList,
  type SpopFrame,
} from "./spop-codec.ts";

export type AskHaproxy = (
  message: HaproxyMessage,
  call: DoorCall,
) => PromiseOrValue<HttpAnswer | typeof GIVEN_UP>;

export interface SpopOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Who may ask: addresses and networks. */
  readonly callers: readonly string[];
  /** Which of them may ask here. Default: all. */
  readonly doorCallers?: readonly string[];
  readonly ask: AskHaproxy;
  /** Time limit for one decision; ms. */
  readonly decisionTimeout: number;
  readonly log: JobLog;
  /** Hears of each question that is refused without a decision. */
  readonly refused?: (cause: AuthorizerRefusal) => void;
  /** How many requests are decided at once; more are denied with 503. */
  readonly atOnce?: number;
  /** How long a peer may take for its HELLO, for a frame that it has begun, to read answers, and to close; ms. */
  readonly frameTimeout?: number;
}

/** HAProxy's message in the SPOE configuration. */
const MESSAGE = "gatehouse-request";
const VERSION = "2.0";
const FRAME_SIZE = 65_536;
/** The smallest that the protocol permits. */
const SMALLEST_FRAME = 256;
const AT_ONCE = 1_000;
const FRAME_TIMEOUT_MS = 10_000;
/** How long a peer has for reading the last frame when the process ends. */
const GOODBYE_MS = 500;
/** Codes of a disconnection (SPOE.txt, section 3.5). */
const CODE = {
  ...{ normal: 0, timeout: 2, tooBig: 3, invalid: 4, noVersion: 5, noFrameSize: 6 },
  ...{ otherVersion: 8, frameSize: 9, fragmented: 10 },
};

class Unusable extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The agent of HAProxy's SPOE filters (SPOP 2.0, pipelining, no fragmentation: HAProxy itself then fails messages that are
 * too large, and its configuration denies requests without a verdict).
 *
 * @throws if nobody may ask, or it cannot listen there
 */
export async function startSpop(options: SpopOptions): Promise<Authorizers> {
  const { listen, callers, ask, decisionTimeout, log, refused = () => undefined, atOnce = AT_ONCE } = options;
  const { frameTimeout = FRAME_TIMEOUT_MS } = options;
  if (callers.length === 0) throw new Error("authz.http_callers is empty: nobody may ask");
  const isCaller = createCallers(callers);
  const mayUseDoor = createCallers(options.doorCallers ?? callers);
  const mayAsk = (socket: Socket) => isCaller(socket) && mayUseDoor(socket);
  const sockets = new Set<Socket>();
  const open = new Set<Promise<void>>();
  let [serving, closing] = [true, false];

  const without = (cause: AuthorizerRefusal): HttpAnswer => {
    refused(cause);
    return { status: 503, headers: [], body: "" };
  };

  async function answerTo(message: HaproxyMessage, socket: Socket): Promise<HttpAnswer> {
    if (!serving || closing) return without("not_serving");
    if (open.size > atOnce) return without("overloaded");
    const call = { deadline: Date.now() + decisionTimeout, isCancelled: () => socket.destroyed };
    const asked = ask(message, call);
    const answer = asked instanceof Promise ? await inTime(asked, decisionTimeout, GIVEN_UP) : asked;
    return answer === GIVEN_UP ? without("late") : answer;
  }

  function disconnect(socket: Socket, code: number, message: string): void {
    const payload = writeList({ "status-code": code, message });
    socket.end(writeFrame({ type: FRAME.agentDisconnect, stream: 0, frame: 0, payload }));
  }

  const serve = (socket: Socket): void => {
    if (!mayAsk(socket)) {
      refused("stranger");
      socket.destroy();
      return;
    }
    sockets.add(socket);
    let received: Buffer = Buffer.alloc(0);
    let frameSize: number | undefined;
    let limit: NodeJS.Timeout | undefined;

    /** The peer has to do something now, which more bytes do not put off. */
    const expectSoon = (): void => {
      clearTimeout(limit);
      const own = setTimeout(() => {
        // what came while this process was busy is read first
        setImmediate(() => {
          if (limit === own) late();
        });
      }, frameTimeout);
      limit = own;
    };

    const expectNothing = (): void => {
      clearTimeout(limit);
      limit = undefined;
    };

    const late = (): void => {
      if (socket.writableEnded || socket.writableNeedDrain) socket.destroy();
      else failed(new Unusable(CODE.timeout, "the frame is late"));
    };

    const end = (code: number, message: string): void => {
      disconnect(socket, code, message);
      expectSoon();
    };

    /** A peer that does not read its answers is not read, either. */
    const write = (bytes: Buffer): void => {
      if (socket.write(bytes) || socket.isPaused()) return;
      socket.pause();
      expectSoon();
    };

    const hello = ({ payload }: SpopFrame): void => {
      const values = new SpopReader(payload).list();
      const [versions, size] = [values.get("supported-versions"), values.get("max-frame-size")];
      const supported = Buffer.isBuffer(versions) ? versions.toString("latin1").split(/[, ]+/) : [];
      if (!supported.includes(VERSION))
        throw new Unusable(
          versions === undefined ? CODE.noVersion : CODE.otherVersion,
          "only SPOP 2.0 is supported",
        );
      if (typeof size !== "number") throw new Unusable(CODE.noFrameSize, "max-frame-size is missing");
      if (size < SMALLEST_FRAME) throw new Unusable(CODE.frameSize, "max-frame-size is too small");
      frameSize = Math.min(size, FRAME_SIZE);
      const ours = { version: VERSION, "max-frame-size": frameSize, capabilities: "pipelining" };
      write(writeFrame({ type: FRAME.agentHello, stream: 0, frame: 0, payload: writeList(ours) }));
      if (values.get("healthcheck") !== true) return;
      socket.end();
      expectSoon();
    };

    const notified = async ({ stream, frame, payload }: SpopFrame, size: number): Promise<void> => {
      const reader = new SpopReader(payload);
      if (reader.name() !== MESSAGE) throw new Unusable(CODE.invalid, `expected the message ${MESSAGE}`);
      const message = reader.list(reader.byte());
      if (!reader.atEnd) throw new Unusable(CODE.invalid, "expected one message");
      const answer = await answerTo(message, socket);
      const ack = (body: string) =>
        writeFrame({
          type: FRAME.ack,
          stream,
          frame,
          payload: setVariables(variablesOf({ ...answer, body })),
        });
      const whole = ack(answer.body);
      // a page that is too long for a frame is left out; the verdict is not
      if (!socket.writableEnded && !socket.destroyed) write(whole.length - 4 > size ? ack("") : whole);
    };

    const take = (frame: SpopFrame): void => {
      if ((frame.flags & FIN) === 0) throw new Unusable(CODE.fragmented, "fragmentation is not supported");
      if (frame.type === FRAME.haproxyDisconnect) end(CODE.normal, "");
      else if (frame.type === FRAME.haproxyHello && frameSize === undefined) hello(frame);
      else if (frame.type === FRAME.notify && frameSize !== undefined) {
        const asked: Promise<void> = notified(frame, frameSize)
          .catch(failed)
          .finally(() => open.delete(asked));
        open.add(asked);
      } else throw new Unusable(CODE.invalid, "unexpected frame");
    };

    const failed = (error: unknown): void => {
      refused("malformed");
      if (socket.writableEnded) return;
      log.warn({ err: error, peer: socket.remoteAddress }, "a connection of HAProxy is not usable");
      const code = error instanceof Unusable ? error.code : CODE.invalid;
      end(code, error instanceof Error ? error.message : "");
    };

    /** @returns whether there was a whole frame */
    const takeNext = (): boolean => {
      if (received.length < 4 || socket.writableEnded) return false;
      const length = received.readUInt32BE();
      if (length > FRAME_SIZE) throw new Unusable(CODE.tooBig, "the frame is too big");
      if (received.length < 4 + length) return false;
      const frame = readFrame(received.subarray(4, 4 + length));
      received = received.subarray(4 + length);
      take(frame);
      return true;
    };

    const isOver = (): boolean => socket.writableEnded;

    socket.on("data", (chunk: Buffer) => {
      // what follows a goodbye is read only so that the peer can close
      if (isOver()) return;
      const begun = received.length > 0 || frameSize === undefined;
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      try {
        let some = false;
        while (takeNext()) some = true;
        if (isOver() || socket.isPaused()) return;
        if (received.length === 0 && frameSize !== undefined) expectNothing();
        else if (some || !begun) expectSoon();
      } catch (error) {
        failed(error);
      }
    });
    socket.on("drain", () => {
      expectNothing();
      if (received.length > 0) expectSoon();
      socket.resume();
    });
    socket.on("error", () => {
      socket.destroy();
    });
    socket.on("close", () => {
      expectNothing();
      sockets.delete(socket);
    });
    expectSoon();
  };

  const server = createServer(serve);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen.port, listen.host, resolve);
  });
  const drain = async (graceMs: number): Promise<void> => {
    closing = true;
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    await inTime(Promise.all(open), graceMs, undefined);
    for (const socket of sockets) {
      disconnect(socket, CODE.normal, "shutting down");
      socket.destroySoon();
    }
    await inTime(closed, GOODBYE_MS, undefined);
    // of peers that read nothing, and of those that connected meanwhile
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  let drained: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    serve: (now) => {
      serving = now;
    },
    close: (graceMs) => (drained ??= drain(graceMs)),
  };
}

/** Headers become variables: `x-user-id` is `h_x_user_id`. */
function variablesOf({ status, headers, body }: HttpAnswer): Record<string, string | number> {
  const found: Record<string, string | number> = { verdict: status === 200 ? "allow" : "deny", status };
  for (const [name, value] of headers) found[`h_${name.toLowerCase().replaceAll("-", "_")}`] = value;
  if (body !== "") found["body"] = Buffer.from(body, "utf8").toString("latin1");
  return found;
}
