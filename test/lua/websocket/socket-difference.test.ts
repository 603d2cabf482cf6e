import assert from "node:assert/strict";
import fc from "fast-check";
import type { LuaRunner } from "../../support/lua.ts";
import { runs } from "../../support/runs.ts";
import { mutate, mutations, split } from "./frames-support.ts";
import { madeMessage, type MadeMessage } from "./messages-arbitraries.ts";
import {
  fromClient,
  fromServer,
  notice,
  PING_OF_OURS,
  RULES,
  startSockets,
  text,
  UNLISTED,
  AMBIGUOUS,
  UNREADABLE,
  type Play,
  type Played,
  type Step,
} from "./socket-support.ts";
import { said } from "./support.ts";

const BATCH = 30;
const rounds = { numRuns: runs(6) };

/** Something that one side says. */
type Saying =
  | {
      readonly kind: "message";
      readonly made: MadeMessage;
      readonly cuts: readonly number[];
      readonly between: string;
    }
  | { readonly kind: "binary" | "ping" | "pong"; readonly payload: string };

const saying: fc.Arbitrary<Saying> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("message" as const),
      made: madeMessage,
      cuts: fc.array(fc.nat(300), { maxLength: 3 }),
      between: fc.string({ maxLength: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("binary", "ping", "pong"),
      payload: fc.string({ maxLength: 5 }),
    }),
  },
);

/** Which side speaks next, and what it says; or the server answers our PING. */
const turn = fc.oneof(
  { weight: 4, arbitrary: fc.record({ client: saying }) },
  { weight: 3, arbitrary: fc.record({ server: saying }) },
  { weight: 1, arbitrary: fc.constant({ answer: true } as const) },
);
type Turn = { readonly client: Saying } | { readonly server: Saying } | { readonly answer: true };
const talk = fc.record({
  turns: fc.array(turn, { maxLength: 10 }),
  places: fc.array(fc.nat(500), { maxLength: 4 }),
});

const OPCODES = { binary: 2, ping: 9, pong: 10 } as const;

function bytesOf(one: Saying, frame: typeof fromClient): Buffer {
  if (one.kind !== "message") return frame(one.payload, { opcode: OPCODES[one.kind] });
  const parts = split(Buffer.from(one.made.text), one.cuts);
  return Buffer.concat(
    parts.flatMap((part, index) => [
      frame(part, { opcode: index === 0 ? 1 : 0, fin: index === parts.length - 1 }),
      ...(index < parts.length - 1 ? [frame(one.between, { opcode: 9 })] : []),
    ]),
  );
}

/** What a talk has to come to. */
interface Expected {
  readonly server: string[];
  readonly client: string[];
  readonly notices: string[];
  closed: boolean;
}

const WHY = { UNREADABLE, UNLISTED, AMBIGUOUS, CONDITION: "the message was denied" };

/** One side says something; `own` are the events that the other side then has. */
function expectOne(one: Saying, own: string[], expected: Expected, fromServer: boolean): void {
  if (one.kind === "ping" || one.kind === "pong") {
    own.push(said(one.kind, one.payload));
    return;
  }
  if (one.kind === "message") {
    const parts = split(Buffer.from(one.made.text), one.cuts);
    own.push(...parts.slice(1).map(() => said("ping", one.between)));
  }
  const { verdict, type }: Omit<MadeMessage, "text"> =
    one.kind === "message" ? one.made : { verdict: "UNREADABLE" };
  if (verdict === "PERMITTED") own.push(text((one as { made: MadeMessage }).made.text));
  else if ((verdict === "CONDITION" || verdict === "AMBIGUOUS") && type === "kick") expected.closed = true;
  else if (!fromServer) expected.notices.push(notice(type?.replaceAll("\u0000", "?"), WHY[verdict]));
}

function expectedOf(turns: readonly Turn[]): Expected {
  const expected: Expected = { server: [], client: [], notices: [], closed: false };
  for (const one of turns) {
    if (expected.closed) break;
    if ("client" in one) expectOne(one.client, expected.server, expected, false);
    if ("server" in one) expectOne(one.server, expected.client, expected, true);
  }
  return expected;
}

/** Each turn in a step of its own or, where the cuts fall, in several. */
function stepsOf(turns: readonly Turn[], places: readonly number[]): Step[] {
  return turns.flatMap((one): Step[] => {
    if ("client" in one) return split(bytesOf(one.client, fromClient), places).map((client) => ({ client }));
    if ("server" in one) return split(bytesOf(one.server, fromServer), places).map((server) => ({ server }));
    return [one];
  });
}

const isClose = (event: string) => event.startsWith("close ");

function assertPlayed(played: Played, expected: Expected): void {
  // our PINGs are not the client's
  assert.deepEqual(
    played.server.events.filter((event) => event !== PING_OF_OURS && !isClose(event)),
    expected.server,
  );
  // notices come in order, among what else there is
  const left = [...expected.client];
  const told = played.client.events.filter((event) => {
    if (isClose(event)) return false;
    if (event !== left[0]) return true;
    left.shift();
    return false;
  });
  assert.deepEqual(left, []);
  assert.deepEqual(told, expected.notices);
  assert.equal(played.outcome.closed?.code, expected.closed ? 1008 : undefined);
  assert.deepEqual([played.server.broken, played.client.broken], [undefined, undefined]);
}

describe("socket.lua beside a simple account of what is permitted", () => {
  let runner: LuaRunner;
  let play: Play;
  before(async () => {
    ({ runner, play } = await startSockets());
  });
  after(() => runner.close());

  const talks = fc.array(talk, { minLength: BATCH, maxLength: BATCH });
  const plan = { send: RULES, receive: RULES };
  // so that everything that waits is told, and a CLOSE has something to stand in place of
  const last: readonly Step[] = [{ server: Buffer.alloc(0) }, { client: Buffer.alloc(0) }];

  it("delivers exactly that, however it is fragmented and split", async () => {
    let [delivered, notices, closed] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(talks, async (all) => {
        const results = await play(
          all.map(({ turns, places }) => ({ plan, steps: [...stepsOf(turns, places), ...last] })),
        );
        for (const [index, { turns }] of all.entries()) {
          const expected = expectedOf(turns);
          assertPlayed(results[index]!, expected);
          delivered += expected.server.length;
          notices += expected.notices.length;
          closed += expected.closed ? 1 : 0;
        }
      }),
      rounds,
    );
    assert.ok(delivered > 0 && notices > 0 && closed > 0, "the talks were about nothing");
  });

  it("delivers nothing else when bytes change on the way", async () => {
    const broken = fc.array(fc.tuple(talk, mutations), { minLength: BATCH, maxLength: BATCH });
    let delivered = 0;
    await fc.assert(
      fc.asyncProperty(broken, async (all) => {
        const results = await play(
          all.map(([{ turns, places }, changes]) => ({
            plan,
            steps: [
              ...(["client", "server"] as const).flatMap((side) => {
                const frame = side === "client" ? fromClient : fromServer;
                const sayings = turns.flatMap((one) =>
                  side in one ? [(one as Record<typeof side, Saying>)[side]] : [],
                );
                const bytes = mutate(Buffer.concat(sayings.map((one) => bytesOf(one, frame))), changes);
                return split(bytes, places).map((chunk) => ({ [side]: chunk }) as unknown as Step);
              }),
              ...last,
            ],
          })),
        );
        for (const { server, client, outcome } of results) {
          assert.deepEqual([server.broken, client.broken], [undefined, undefined]);
          for (const event of [...server.events, ...client.events]) {
            assert.ok(!event.startsWith("binary "), event);
            if (event.startsWith("text ")) assertPermitted(Buffer.from(event.slice(5), "hex").toString());
          }
          delivered += outcome.sent.delivered;
        }
      }),
      rounds,
    );
    assert.ok(delivered > 0, "nothing was delivered");
  });
});

/** A text that arrived: no reading of it may be one that is denied. Notices are no messages of anybody's. */
function assertPermitted(message: string): void {
  const { type, n, error } = JSON.parse(message) as { type: unknown; n?: unknown; error?: unknown };
  if (type === "error" && typeof error === "object") return;
  assert.ok(type === "chat" || (type === "count" && typeof n === "number" && n < 5), message);
}
