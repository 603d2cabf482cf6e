import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GIVEN_UP, type Door, type Effects, type Task } from "../../../src/decision/point/index.ts";
import type { Denial } from "../../../src/decision/types.ts";
import { DISK_FULL } from "../../audit/support/fault.ts";
import { bearer, never, useIssuer } from "../support.ts";
import { decode, type Question } from "./http-door/decode.ts";
import { encode, type Answer } from "./http-door/encode.ts";
import { describeDoor } from "./support/door-contract.ts";
import { EVERYTHING, HANDSHAKE, POLICIES, PREFLIGHT, SOCKETS } from "./support/door-fixtures.ts";
import { useServedDoors, type DoorWorld } from "./support/served-doors.ts";

const OVERLOADED: Denial = {
  ...{ verdict: "DENY", reason: "OVERLOADED" },
  ...{ clientIp: "", trustedPeer: false, accepted: [] },
};

const FAULT = () => {
  throw new Error("on purpose");
};

const about = (
  uri: string,
  headers: readonly (readonly [string, string])[] = [],
  carries?: ReadonlySet<Task>,
  method = "GET",
): Question => ({
  headers: [
    ["x-original-method", method],
    ["x-original-uri", uri],
    ["x-original-host", "app.test"],
    ...headers,
  ],
  peer: "127.0.0.1",
  ...(carries && { carries }),
});
const UNREADABLE: Question = { headers: [], peer: "" };

describeDoor("HTTP", {
  door: { decode, encode },
  message: about,
  unreadable: UNREADABLE,
  read: ({ status, headers, body }) =>
    status === 200
      ? { permitted: true, set: Object.fromEntries(headers), remove: [] }
      : { permitted: false, status, body },
});

describe("decision: serving a door", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const doorOf = ({ door, ...world }: DoorWorld & { readonly door?: Partial<Door<Question, Answer>> } = {}) =>
    serve({ decode, encode, ...door }, world);

  const preflight = (carries?: ReadonlySet<Task>): Question => ({
    ...about("/public", PREFLIGHT, carries, "OPTIONS"),
    bodiless: true,
  });
  const token = async (claims: Record<string, unknown> = {}) => bearer(await idp.token(claims));

  it("denies what would be left to do, where the proxy does not do it", async () => {
    const user = await token({ role: "viewer" });
    const { ask, recorded } = doorOf();
    const asked = [
      about("/masked", [user]),
      preflight(),
      about("/public", [["x-user-id", "made up"]]),
      about("/public", [["x-real-ip", "10.0.0.9"]]),
    ];
    for (const question of asked) assert.equal((await ask(question)).status, 503);
    const sockets = doorOf({ policies: SOCKETS });
    const half: ReadonlySet<Task> = new Set(["connection"]);
    for (const carries of [undefined, half])
      assert.equal((await sockets.ask(about("/feed", HANDSHAKE, carries))).status, 503);
    const lines = [...(await recorded()), ...(await sockets.recorded())];
    assert.deepEqual(lines, Array<string>(6).fill("DENY PLAN_NOT_ENFORCEABLE"));
  });

  it("permits where nothing is left, or nothing that anybody misses", async () => {
    const { ask, recorded, withdrawn } = doorOf();
    assert.equal((await ask(about("/masked", [await token({ role: "admin" })]))).status, 200);
    assert.equal((await ask(about("/socket", HANDSHAKE))).status, 200);
    assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE"]);
    assert.deepEqual(withdrawn, []);
  });

  it("hands what is left to a proxy that does it", async () => {
    const found: Effects[] = [];
    const permit: typeof encode.permit = (...parts) => {
      found.push(parts[2]);
      return encode.permit(...parts);
    };
    const door = { encode: { ...encode, permit }, namesDecisions: true };
    const user = await token({ role: "viewer" });
    const { ask } = doorOf({ door });
    await ask(about("/masked", [user, ["x-user-id", "made up"], ["range", "bytes=0-1"]], EVERYTHING));
    await ask(preflight(EVERYTHING));
    await doorOf({ door, policies: SOCKETS }).ask(about("/feed", HANDSHAKE, EVERYTHING));
    const [masked, asking, feed] = found;
    assert.ok(masked?.plan && asking && feed);
    assert.match(masked.plan.text, /"ssn"/);
    assert.equal(masked.plan.decisionId, masked.decisionId);
    assert.ok(masked.headers.remove.includes("range"));
    assert.ok(!masked.headers.remove.includes("x-user-id"), "it is set");
    assert.ok(asking.headers.remove.includes("cookie"));
    assert.deepEqual([masked.plan.websocket, feed.plan?.websocket], [false, true]);
  });

  it("denies preconditions of what changes something and has its answer masked", async () => {
    const { ask, recorded } = doorOf();
    const headers = [await token({ role: "viewer" }), ["if-match", '"1"']] as const;
    assert.equal((await ask(about("/masked", headers, EVERYTHING, "PUT"))).status, 412);
    assert.deepEqual(await recorded(), ["DENY PRECONDITION_NOT_SUPPORTED"]);
  });

  it("asks no door for a body that cannot hand it over", async () => {
    const onRequest: Door<Question, Answer>["decode"] = (question, call) => {
      const asked = decode(question, call);
      return { ...asked, access: { ...asked.access, bodies: "on_request" } };
    };
    const without = doorOf({ door: { decode: onRequest } });
    assert.equal((await without.ask(about("/body"))).status, 503);
    assert.deepEqual(await without.recorded(), ["DENY BODY_NEEDED"]);
    const bodyRequest = { status: 100, headers: [], body: "" };
    const asking = doorOf({ door: { decode: onRequest, encode: { ...encode, bodyRequest } } });
    assert.deepEqual(await asking.ask(about("/body")), bodyRequest);
    assert.deepEqual(await asking.recorded(), [], "the question with the body is the request's only one");
  });

  describe("and whatever fails is an answer with a record", () => {
    const failure = "DENY INTERNAL_ERROR";

    it("decode", async () => {
      const { ask, recorded, log } = doorOf();
      assert.equal((await ask(UNREADABLE)).status, 500);
      const forged = doorOf({ serving: { forgedHeaders: FAULT } });
      assert.equal((await forged.ask(about("/public"))).status, 500);
      assert.deepEqual([...(await recorded()), ...(await forged.recorded())], [failure, failure]);
      assert.deepEqual(log, ["a decision failed"]);
    });

    it("the decision", async () => {
      for (const bend of [FAULT, () => Promise.reject(new Error("on purpose"))]) {
        const policies = { ...POLICIES, matcher: { ...POLICIES.matcher, match: bend as never } };
        const { ask, recorded } = doorOf({ policies });
        assert.notEqual((await ask(about("/public"))).status, 200);
        assert.equal((await recorded()).length, 1);
      }
    });

    it("what looks at what is left, and what looks after connections", async () => {
      const carries = { has: FAULT } as unknown as ReadonlySet<Task>;
      const user = await token();
      const left = doorOf();
      assert.equal((await left.ask(about("/masked", [user], carries))).status, 500);
      const connections = { add: FAULT, slotOf: never, hasLeft: () => false, withdraw: () => undefined };
      const kept = doorOf({ policies: SOCKETS, serving: { connections } });
      assert.equal((await kept.ask(about("/feed", HANDSHAKE, EVERYTHING))).status, 500);
      assert.deepEqual([...(await left.recorded()), ...(await kept.recorded())], [failure, failure]);
    });

    it("encode; a connection that was to be is let go", async () => {
      const door = { encode: { ...encode, permit: FAULT } };
      const { ask, recorded, withdrawn } = doorOf({ door, policies: SOCKETS });
      assert.equal((await ask(about("/feed", HANDSHAKE, EVERYTHING))).status, 500);
      assert.deepEqual(await recorded(), [failure]);
      assert.equal(withdrawn.length, 1);
      const twice = doorOf({ door: { encode: { ...encode, permit: FAULT, denial: FAULT } } });
      assert.equal(await twice.ask(about("/public")), encode.lastResort);
      assert.equal(await twice.ask(about("/nothing")), encode.lastResort);
      assert.equal(await twice.ask(UNREADABLE), encode.lastResort);
      assert.deepEqual(await twice.recorded(), [failure, "DENY NO_MATCHING_RULE", failure]);
    });

    it("what denies because others wait", async () => {
      const busy = doorOf({ serving: { shed: () => OVERLOADED } });
      assert.equal((await busy.ask(about("/public"))).status, 503);
      assert.deepEqual(await busy.recorded(), ["DENY OVERLOADED"]);
      const { ask, recorded } = doorOf({ serving: { shed: FAULT } });
      assert.equal((await ask(about("/public"))).status, 500);
      const unnamed = doorOf({
        door: { namesDecisions: true },
        serving: { shed: () => OVERLOADED, nextDecisionId: FAULT },
      });
      assert.equal((await unnamed.ask(about("/public"))).status, 500);
      assert.deepEqual([...(await recorded()), ...(await unnamed.recorded())], [failure, failure]);
    });

    it("the time", async () => {
      const { ask, recorded, withdrawn } = doorOf();
      assert.equal((await ask(about("/public"), { deadline: Date.now() - 1 })).status, 503);
      assert.deepEqual(await recorded(), ["DENY DEADLINE_EXCEEDED"]);
      const sockets = doorOf({ policies: SOCKETS });
      await sockets.ask(about("/feed", HANDSHAKE, EVERYTHING), { deadline: Date.now() - 1 });
      await sockets.ask(about("/feed", HANDSHAKE, EVERYTHING), { isCancelled: () => true });
      assert.deepEqual([withdrawn.length, sockets.withdrawn.length], [0, 2]);
    });

    it("that nobody waits for an answer, unless the caller reports that itself", async () => {
      const left = new Set<string>();
      const decided = new Set<string>();
      const undecided = {
        isReported: (id: string) => left.has(id),
        claim: (id: string) => {
          if (decided.has(id)) return false;
          decided.add(id);
          return true;
        },
      };
      let shed: () => Denial | undefined = () => undefined;
      let id = 0;
      const reporting: Partial<Door<Question, Answer>> = {
        decode: (...parts) => {
          const check = decode(...parts);
          id += 1;
          return {
            ...check,
            access: { ...check.access, requestId: `req_${id}` },
            reportsUndecided: true,
          };
        },
      };
      const { answerTo, recorded } = doorOf({ door: reporting, serving: { shed: () => shed(), undecided } });
      const asked = about("/public");
      const answer = await answerTo(asked);
      assert.ok(answer !== GIVEN_UP && answer.status === 200);
      assert.equal(await answerTo(asked, { deadline: Date.now() - 1 }), GIVEN_UP);
      assert.equal(await answerTo(asked, { isCancelled: () => true }), GIVEN_UP);
      left.add("req_4");
      assert.equal(await answerTo(asked), GIVEN_UP);
      // it left, and another check of it was decided, while this one was
      decided.add("req_5");
      assert.equal(await answerTo(asked), GIVEN_UP);
      shed = () => {
        decided.add("req_6");
        return OVERLOADED;
      };
      assert.equal(await answerTo(asked), GIVEN_UP);
      assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE"]);
      // the caller of this one reports nothing
      const silent = doorOf({ serving: { undecided: { isReported: () => true, claim: () => false } } });
      assert.equal((await silent.ask(asked)).status, 200);
    });

    it("that a decision came after its deadline, which counts for its set", async () => {
      const missed: string[] = [];
      let isPast = false;
      const { answerTo, recorded } = doorOf({
        door: {
          decode(...parts) {
            const check = decode(...parts);
            const access = Object.defineProperty({ ...check.access }, "deadline", {
              get: () => (isPast ? 0 : Infinity),
            });
            return { ...check, access, reportsUndecided: true };
          },
        },
        point(point) {
          const decide = point.decide.bind(point);
          point.decide = (access) => {
            const decided = decide(access);
            isPast = true;
            return decided;
          };
          point.missed = ({ verdict, snapshot }) => missed.push(`${verdict} ${snapshot?.label}`);
        },
      });
      assert.equal(await answerTo(about("/public")), GIVEN_UP);
      assert.deepEqual(missed, [`ALLOW ${POLICIES.label}`]);
      // it was not refused: its client has left
      const left = doorOf({
        door: { decode: (...parts) => ({ ...decode(...parts), reportsUndecided: true }) },
        point(point) {
          point.missed = never;
        },
      });
      let asked = 0;
      const isCancelled = () => (asked += 1) > 1;
      assert.equal(await left.answerTo(about("/public"), { isCancelled }), GIVEN_UP);
      assert.deepEqual([await recorded(), await left.recorded()], [[], []]);
    });

    it("but what comes after the record, which changes no answer", async () => {
      const counted = doorOf();
      counted.metrics.decisions.labels = FAULT;
      const tracing = { span: () => ({ recording: false, end: FAULT }), shutdown: never };
      const traced = doorOf({ serving: { tracing } });
      for (const { ask, recorded } of [counted, traced]) {
        assert.equal((await ask(about("/public"))).status, 200);
        assert.equal((await ask(about("/nothing"))).status, 403);
        assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE", "DENY NO_MATCHING_RULE"]);
      }
    });

    it("where records go", async () => {
      const full = doorOf({
        audit: (_audit, destination) => {
          destination.broken = DISK_FULL;
        },
      });
      assert.equal((await full.ask(about("/kept"), { deadline: Date.now() + 200 })).status, 503);
      assert.equal((await full.ask(about("/public"))).status, 200, "its record is not required");
      for (const path of ["/public", "/nothing"]) {
        const broken = doorOf({
          audit: (audit) => {
            audit.record = FAULT;
          },
        });
        const { status } = await broken.ask(about(path));
        assert.equal(status, 500);
        assert.deepEqual(broken.log, ["a decision failed"]);
        const { values } = await broken.metrics.decisions.get();
        assert.deepEqual(
          values.map(({ labels, value }) => [labels.reason, value]),
          [["INTERNAL_ERROR", 1]],
        );
      }
      const turnedAway = doorOf({
        serving: { shed: () => OVERLOADED },
        audit: (audit) => {
          audit.recordRefusal = FAULT;
        },
      });
      assert.equal((await turnedAway.ask(about("/public"))).status, 500);
      const later = doorOf({
        audit: (audit) => {
          audit.recordDurably = FAULT;
        },
      });
      assert.equal((await later.ask(about("/kept"))).status, 500);
    });
  });

  it("serves HTTP", async () => {
    const { ask, recorded } = doorOf();
    const server = createServer((request, response) => {
      const headers = request.rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [[name.toLowerCase(), request.rawHeaders[index + 1] ?? ""] as const] : [],
      );
      void ask({ headers, peer: request.socket.remoteAddress ?? "" }).then((answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const status = async (uri: string) => {
        const headers = about(uri).headers.map(([name, value]): [string, string] => [name, value]);
        return (await fetch(`http://127.0.0.1:${port}/`, { headers })).status;
      };
      assert.deepEqual([await status("/public"), await status("/me")], [200, 401]);
      assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE", "DENY IDENTITY_REQUIRED"]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
