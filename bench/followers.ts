/**
 * A process of its own: `argv[4]` followers of the control plane at `argv[2]`, with the key `argv[3]`, each on a connection of its
 * own. They read no more of an answer than its cursor, so that their number costs the machine little.
 */
import { connect, type Socket } from "node:net";
import { constants, gunzipSync } from "node:zlib";

/** What the parent asks, and is answered under the same name. */
export type Question =
  | { readonly kind: "waiting" }
  /** Forgets what was heard before. */
  | { readonly kind: "begin" }
  /** How long each took, from `since` on, until it had heard of the change of this number; those that have. */
  | { readonly kind: "heard"; readonly since: string; readonly seq: number };
export interface Reply {
  readonly waiting?: number;
  readonly heard?: readonly number[];
  readonly failures: number;
  readonly bytes: number;
}

const [, , url = "", key = "", count = "1"] = process.argv;
const { hostname, port } = new URL(url);
/** Of an answer, its head and where the cursor is: all of it would take longer to unpack than the control plane to send. */
const HEAD_BYTES = 4_096;
const RETRY_MS = 200;

let failures = 0;
let bytes = 0;
let waiting = 0;

class Follower {
  cursor: string;
  /** Nanoseconds of the machine's clock, and the number that was reached. */
  heard: (readonly [at: bigint, seq: number])[] = [];
  #socket: Socket | undefined;
  #head = Buffer.alloc(0);
  #left = -1;
  #status = 0;

  constructor(cursor: string) {
    this.cursor = cursor;
    this.#ask();
  }

  #ask(): void {
    waiting += 1;
    this.#head = Buffer.alloc(0);
    this.#left = -1;
    this.#socket ??= this.#open();
    this.#socket.write(
      `GET /v1/gateway/state?wait=20&after=${this.cursor} HTTP/1.1\r\nHost: ${hostname}\r\n` +
        `Authorization: Bearer ${key}\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n\r\n`,
    );
  }

  #open(): Socket {
    const socket = connect(Number(port), hostname);
    socket.on("data", (chunk) => {
      this.#read(chunk);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#socket = undefined;
      this.#failed();
    });
    return socket;
  }

  #read(chunk: Buffer): void {
    bytes += chunk.length;
    const known = this.#head.length;
    if (known < HEAD_BYTES) this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - known)]);
    if (this.#left < 0) {
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = this.#head.toString("latin1", 0, end);
      this.#status = Number(head.slice(9, 12));
      this.#left = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0) + end + 4 - known - chunk.length;
    } else this.#left -= chunk.length;
    if (this.#left > 0) return;
    if (this.#status === 200) this.#answered();
    else this.#failed();
  }

  #answered(): void {
    waiting -= 1;
    const { cursor, seq } = placeIn(this.#head);
    this.heard.push([process.hrtime.bigint(), seq]);
    this.cursor = cursor;
    this.#ask();
  }

  #failed(): void {
    waiting -= 1;
    failures += 1;
    setTimeout(() => {
      this.#ask();
    }, RETRY_MS);
  }
}

function placeIn(answer: Buffer): { readonly cursor: string; readonly seq: number } {
  const end = answer.indexOf("\r\n\r\n");
  const body = answer.subarray(end + 4);
  const isZipped = /^content-encoding: gzip/im.test(answer.toString("latin1", 0, end));
  // only its beginning is there
  const text = isZipped ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body;
  const cursor = /"cursor":"([^"]+)"/.exec(text.toString("latin1"))?.[1] ?? "";
  return { cursor, seq: Number(cursor.split(".")[0]) };
}

const first = await fetch(`${url}/v1/gateway/state`, { headers: { authorization: `Bearer ${key}` } });
const { data } = (await first.json()) as { readonly data: { readonly cursor: string } };
const followers = Array.from({ length: Number(count) }, () => new Follower(data.cursor));

process.on("message", (question: Question) => {
  process.send?.({ ...reply(question), failures, bytes } satisfies Reply);
});
// it exits with the benchmark
process.on("disconnect", () => process.exit());
process.send?.({ failures, bytes } satisfies Reply);

function reply(question: Question): Omit<Reply, "failures" | "bytes"> {
  switch (question.kind) {
    case "waiting":
      return { waiting };
    case "begin":
      failures = 0;
      bytes = 0;
      for (const follower of followers) follower.heard = [];
      return {};
    case "heard": {
      const since = BigInt(question.since);
      const times = followers.flatMap(({ heard }) => {
        const [at] = heard.find(([, seq]) => seq >= question.seq) ?? [];
        return at === undefined ? [] : [Number(at - since) / 1e6];
      });
      return { heard: times };
    }
  }
}
