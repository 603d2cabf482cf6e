import fc from "fast-check";
import { INIT_BYTES } from "../../../../src/envoy-contract.ts";
import { closePayload, fromClient, fromServer } from "../../../gateway/support/websocket-frames.ts";
import { OPCODE } from "../../../lua/websocket/support.ts";

/** What a first message says about its client. */
const TOKENS = ["none", "viewer", "admin", "expired", "twice", "otherCase", "list", "long"] as const;
type Token = (typeof TOKENS)[number];

/** What ends any connection, whenever it comes, and the code that it ends with. */
const VIOLATIONS = {
  binary: 4400,
  garbage: 4400,
  repeated: 4400,
  otherType: 4400,
  extraMember: 4400,
  reserved: 1002,
  unmasked: 1002,
  continuation: 1002,
} as const;
type Violation = keyof typeof VIOLATIONS;

/** One thing that a client sends. */
type Step =
  | { readonly kind: "init"; readonly token: Token; readonly escaped: boolean }
  | { readonly kind: "subscribe"; readonly field: "me" | "salary" }
  | { readonly kind: "complete" | "ping" | "longPing" | "pong" | "framePing" | "framePong" | "close" }
  | { readonly kind: "violation"; readonly what: Violation };

interface Sent {
  readonly step: Step;
  /** Where a message is cut into frames. */
  readonly cuts: readonly number[];
  /** A PING follows each but the last of them. */
  readonly pings: boolean;
}

/** A GraphQL client with one connection, who may send anything in any order. */
export interface Conversation {
  readonly path: "/graphql" | "/open";
  readonly over: "HTTP/1.1" | "HTTP/2";
  /** Whether it has sent a token with its handshake. */
  readonly handshake: "anonymous" | "viewer";
  readonly sent: readonly Sent[];
  /** Where the bytes of all frames are cut into packets. */
  readonly packets: readonly number[];
  readonly pauses: boolean;
}

const kinds = <Kind extends string>(...all: readonly Kind[]) =>
  fc.constantFrom(...all).map((kind) => ({ kind }));

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("init" as const),
      token: fc.oneof(fc.constant<Token>("viewer"), fc.constantFrom(...TOKENS)),
      escaped: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("subscribe" as const),
      field: fc.constantFrom("me" as const, "salary" as const),
    }),
  },
  { weight: 4, arbitrary: kinds("ping", "pong", "framePing", "framePong") },
  { weight: 1, arbitrary: kinds("complete", "close", "longPing") },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("violation" as const),
      what: fc.constantFrom(...(Object.keys(VIOLATIONS) as Violation[])),
    }),
  },
);
const sent = fc.record({ step, cuts: fc.array(fc.nat(400), { maxLength: 3 }), pings: fc.boolean() });
/** Many begin as they should, or few would get to their operations. */
const beginning = fc.oneof(
  fc.constant<Sent[]>([]),
  sent.map((one): Sent[] => [{ ...one, step: { kind: "init", token: "viewer", escaped: false } }]),
);

export const conversation: fc.Arbitrary<Conversation> = fc.record({
  path: fc.constantFrom("/graphql" as const, "/open" as const),
  over: fc.constantFrom("HTTP/1.1" as const, "HTTP/2" as const),
  handshake: fc.constantFrom("anonymous" as const, "anonymous" as const, "viewer" as const),
  sent: fc
    .tuple(beginning, fc.array(sent, { minLength: 1, maxLength: 8 }))
    .map(([first, rest]) => [...first, ...rest]),
  packets: fc.array(fc.nat(3000), { maxLength: 8 }),
  pauses: fc.boolean(),
});

/** The tokens of three users, of whom one's has expired. */
export type Tokens = Readonly<Record<"viewer" | "admin" | "expired", string>>;

function initOf(token: Token, escaped: boolean, { viewer, admin, expired }: Tokens): string {
  const payload = {
    none: "{}",
    viewer: `{"authorization":"Bearer ${viewer}"}`,
    admin: `{"authorization":"${admin}"}`,
    expired: `{"authorization":"Bearer ${expired}"}`,
    twice: `{"authorization":"${viewer}","authorization":"${admin}"}`,
    otherCase: `{"authorization":"${viewer}","Authorization":"${admin}"}`,
    list: `{"authorization":["${viewer}"]}`,
    long: `{"authorization":"${viewer}","x":"${"x".repeat(INIT_BYTES)}"}`,
  }[token];
  return escaped
    ? String.raw`{"type":"connection\u005finit","payload":${payload.replace('"a', String.raw`"\u0061`)}}`
    : `{"type":"connection_init","payload":${payload}}`;
}

/** The message of a step that is one. */
function textOf(step: Step, id: string, tokens: Tokens): string {
  if (step.kind === "init") return initOf(step.token, step.escaped, tokens);
  if (step.kind === "subscribe")
    return `{"id":"${id}","type":"subscribe","payload":{"query":"{ ${step.field} }"}}`;
  if (step.kind === "longPing") return `{"type":"ping","payload":{"x":"${"x".repeat(INIT_BYTES)}"}}`;
  if (step.kind !== "violation") return `{"id":"${id}","type":"${step.kind}"}`;
  const init = initOf("viewer", false, tokens);
  switch (step.what) {
    case "repeated":
      return `{"type":"ping",${init.slice(1)}`;
    case "extraMember":
      return `{"x":1,${init.slice(1)}`;
    case "otherType":
      return init.replace("connection", "Connection");
    case "garbage":
      return `${init}}`;
    default:
      return init;
  }
}

function cutsOf(text: string, cuts: readonly number[]): readonly number[] {
  return [...new Set(cuts.filter((cut) => cut < text.length))].sort((one, other) => one - other);
}

/** The bytes of one step; `id` is different for each. */
export function bytesOf({ step, cuts, pings }: Sent, id: string, tokens: Tokens): Buffer {
  const text = textOf(step, id, tokens);
  if (step.kind === "framePing") return fromClient(id, { opcode: OPCODE.ping });
  if (step.kind === "framePong") return fromClient(id, { opcode: OPCODE.pong });
  if (step.kind === "close") return fromClient(closePayload(1000), { opcode: OPCODE.close });
  const what = step.kind === "violation" ? step.what : undefined;
  if (what === "reserved") return fromClient(text, { reserved: 4 });
  if (what === "unmasked") return fromServer(text);
  if (what === "continuation") return fromClient(text, { opcode: OPCODE.continuation });
  const at = cutsOf(text, cuts);
  const parts = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
  const first = what === "binary" ? OPCODE.binary : OPCODE.text;
  return Buffer.concat(
    parts.flatMap((part, index) => {
      const fin = index === parts.length - 1;
      const frame = fromClient(part, { opcode: index === 0 ? first : OPCODE.continuation, fin });
      return fin || !pings ? [frame] : [frame, fromClient(id, { opcode: OPCODE.ping })];
    }),
  );
}

/** What each side must have been told in the end. */
export interface Outcome {
  readonly application: readonly string[];
  /** The ids of the operations that the client is told were denied. */
  readonly denied: readonly string[];
  /** The code of the CLOSE, if the connection ends. */
  readonly closed: number | undefined;
}

/** Decision 0057 once more, as plainly as possible. */
export function outcomeOf({ path, handshake, sent }: Conversation, tokens: Tokens): Outcome {
  const application: string[] = [];
  const denied: string[] = [];
  const client: { who: "nobody" | "viewer" | "admin"; begun: boolean } = {
    who: handshake === "viewer" ? "viewer" : "nobody",
    begun: false,
  };

  /** The code of the CLOSE that follows a first message, if any. */
  function begin(token: Token): number | undefined {
    // no message that every parser reads alike
    if (token === "twice") return 4400;
    if (client.begun) return 4429;
    client.begun = true;
    if (token === "long") return 1009;
    if (token === "none") return path === "/graphql" && client.who === "nobody" ? 4403 : undefined;
    if (token !== "viewer" && token !== "admin") return 4403;
    if (handshake !== "anonymous" && token !== handshake) return 4403;
    client.who = token;
    return undefined;
  }

  for (const [index, { step, cuts, pings }] of sent.entries()) {
    const id = String(index);
    const text = textOf(step, id, tokens);
    const end = (closed: number) => ({ application, denied, closed });
    if (step.kind === "framePing" || step.kind === "framePong") {
      application.push(`${step.kind.slice("frame".length).toLowerCase()} ${id}`);
      continue;
    }
    if (step.kind === "close") return end(1000);
    const violation = step.kind === "violation" ? VIOLATIONS[step.what] : undefined;
    if (violation === 1002) return end(violation);
    if (pings) application.push(...cutsOf(text, cuts).map(() => `ping ${id}`));
    if (violation !== undefined) return end(violation);
    if (step.kind === "init") {
      const closed = begin(step.token);
      if (closed !== undefined) return end(closed);
    } else if (step.kind === "longPing") {
      if (!client.begun) return end(1009);
    } else if (step.kind === "subscribe" || step.kind === "complete") {
      if (!client.begun) return end(4401);
      const isDenied =
        step.kind === "subscribe" && (step.field === "me" ? client.who === "nobody" : client.who !== "admin");
      if (isDenied) {
        denied.push(id);
        continue;
      }
    }
    application.push(`text ${text}`);
  }
  return { application, denied, closed: undefined };
}
