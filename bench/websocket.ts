import { once } from "node:events";
import { WebSocket } from "ws";
import { documentOf } from "./documents.ts";
import { effort } from "./effort.ts";
import { startGuarded } from "./guarded.ts";
import { median, percentile } from "./statistics.ts";

/** One row of the table: round trips of one size of message in one set-up. */
interface Row {
  readonly message: string;
  readonly setup: string;
  readonly p50_us: number;
  readonly p99_us: number;
  readonly added_us: number;
  readonly per_second_of_50: number;
  readonly ratio_to_envoy_alone: number;
}

const CONNECTIONS = 50;
/** Round trips on one connection; blocks of a round of 50 connections, and how long each takes. */
const SINGLE = effort(4000);
const ROUNDS = 3;
const BLOCK_MS = effort(1000);

const POLICIES = `
websocket_policies:
  - connection: { path: /open, condition: exists(user.id) }
  - connection: { path: /ruled, condition: exists(user.id) }
    message_types:
      - { type: update, condition: message.customer_id == user.customer_id and message.total < 1000 }
      - { type: cancel, condition: user.role == "admin", on_deny: close }
      - { type: update, direction: receive, condition: message.customer_id == user.customer_id }
  - connection: { path: /masked, condition: exists(user.id) }
    message_types:
      - { type: update, condition: message.customer_id == user.customer_id and message.total < 1000 }
      - { type: cancel, condition: user.role == "admin", on_deny: close }
      - type: update
        direction: receive
        condition: message.customer_id == user.customer_id
        fields:
          - { name: secret, condition: user.role != "admin", mask_type: full }
          - { name: ssn, condition: item.owner != user.id, mask_type: partial }
`;

const HEAD = { type: "update", customer_id: "c-1", total: 12.5, secret: "s-1" };

const MESSAGES = [
  { message: "100 B", text: JSON.stringify({ ...HEAD, note: "x".repeat(22) }) },
  { message: "10 KB", text: documentOf(10_000, HEAD) },
];

interface Setup {
  readonly name: string;
  readonly url: string;
  readonly masked: boolean;
}

/** What the Lua in between adds to WebSocket messages that an application sends back, one at a time and many at once. */
export async function benchmarkWebsocket(): Promise<Row[]> {
  const guarded = await startGuarded(POLICIES);
  const setups: readonly Setup[] = [
    { name: "Envoy alone", url: `${guarded.plain}/open`, masked: false },
    { name: "gateway, no rules for messages", url: `${guarded.gateway}/open`, masked: false },
    { name: "gateway, rules both ways", url: `${guarded.gateway}/ruled`, masked: false },
    { name: "gateway, rules and masking", url: `${guarded.gateway}/masked`, masked: true },
  ];
  const connect = ({ url }: Setup) => open(url, guarded.authorization);
  try {
    const rows: Row[] = [];
    for (const { message, text } of MESSAGES) {
      const single = await oneByOne(setups, connect, text);
      const many = await manyAtOnce(setups, connect, text);
      const base = { time: median(single[0] ?? []), rate: many[0] ?? 0 };
      for (const [index, { name }] of setups.entries()) {
        const times = single[index] ?? [];
        const rate = many[index] ?? 0;
        rows.push({
          message,
          setup: name,
          p50_us: Math.round(median(times)),
          p99_us: Math.round(percentile(times, 0.99)),
          added_us: Math.round(median(times) - base.time),
          per_second_of_50: Math.round(rate),
          ratio_to_envoy_alone: rate / base.rate,
        });
      }
    }
    return rows;
  } finally {
    await guarded.stop();
  }
}

/** Microseconds of each round trip on one connection, in turns; the first tenth is not counted. */
async function oneByOne(
  setups: readonly Setup[],
  connect: (setup: Setup) => Promise<WebSocket>,
  text: string,
): Promise<readonly (readonly number[])[]> {
  const sockets = await Promise.all(setups.map(connect));
  const times = setups.map((): number[] => []);
  const warm = Math.ceil(SINGLE / 10);
  for (const [index, setup] of setups.entries()) {
    const answer = await roundTrip(sockets[index]!, text);
    const expected = setup.masked ? answer.includes('"secret":"***"') && answer !== text : answer === text;
    if (!expected) throw new Error(`${setup.name}: an answer that was not expected: ${answer.slice(0, 200)}`);
  }
  for (let round = 0; round < SINGLE + warm; round++) {
    for (const [index, socket] of sockets.entries()) {
      const started = performance.now();
      await roundTrip(socket, text);
      if (round >= warm) times[index]!.push((performance.now() - started) * 1000);
    }
  }
  for (const socket of sockets) socket.terminate();
  return times;
}

/** Messages a second over many connections, each of which sends as soon as its last answer is there: median of rounds. */
async function manyAtOnce(
  setups: readonly Setup[],
  connect: (setup: Setup) => Promise<WebSocket>,
  text: string,
): Promise<readonly number[]> {
  const rates = setups.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, setup] of setups.entries()) {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(setup)));
      const rate = await rateOf(sockets, text);
      if (round > 0) rates[index]!.push(rate);
      for (const socket of sockets) socket.terminate();
    }
  }
  return rates.map(median);
}

async function rateOf(sockets: readonly WebSocket[], text: string): Promise<number> {
  let answers = 0;
  const started = performance.now();
  const end = started + BLOCK_MS;
  const keepSending = async (socket: WebSocket) => {
    while (performance.now() < end) {
      await roundTrip(socket, text);
      answers += 1;
    }
  };
  await Promise.all(sockets.map(keepSending));
  return (answers * 1000) / (performance.now() - started);
}

async function open(url: string, authorization: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace("http", "ws"), {
    perMessageDeflate: false,
    headers: { authorization },
  });
  await once(socket, "open");
  return socket;
}

function roundTrip(socket: WebSocket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const closed = (code: number, reason: Buffer) => {
      reject(new Error(`the connection closed: ${code} ${reason.toString()}`));
    };
    socket.once("close", closed);
    socket.once("message", (data: Buffer) => {
      socket.off("close", closed);
      resolve(data.toString());
    });
    socket.send(text);
  });
}
