import assert from "node:assert/strict";
import fc from "fast-check";
import { readOutcome } from "../../src/extauthz/access-log-outcome.ts";
import { runs } from "../support/runs.ts";

const read = (value: unknown) => readOutcome(JSON.stringify(value));
const response = (more: object) => read({ response: { result: "masked", ...more } });
const websocket = (more: object) => read({ websocket: { sent: {}, received: {}, ...more } });

const FULL = {
  sent: { delivered: 1, dropped: 2 },
  received: { delivered: 3, dropped: 4, masked: 5 },
  denied: [
    { direction: "send", type: "cancel", rule: "websocket_policies[0].messages[1]", count: 6 },
    { direction: "send", type: "cancel", rule: "websocket_policies[0].messages[0]", set: "d-2", count: 1 },
  ],
  paths: ["$.email"],
  sets: ["d-2"],
  closed: { code: 1008, reason: "TOKEN_EXPIRED", by: "expiry" },
};

describe("extauthz: outcomes that Lua notes", () => {
  it("of an answer", () => {
    const full = { result: "refused", reason: "compressed", paths: ["$.a", "$.b[0]"], count: 3, dropped: 1 };
    assert.deepEqual(read({ response: full }), { event: "response", response: full });
    for (const result of ["masked", "unchanged", "refused", "unfinished"]) {
      const expected = { event: "response", response: { result, paths: [], count: 0, dropped: 0 } };
      assert.deepEqual(read({ response: { result } }), expected);
    }
  });

  it("of a connection", () => {
    assert.deepEqual(read({ websocket: FULL }), { event: "connection", connection: FULL });
    assert.deepEqual(websocket({}), {
      event: "connection",
      connection: {
        sent: { delivered: 0, dropped: 0 },
        received: { delivered: 0, dropped: 0, masked: 0 },
        denied: [],
        paths: [],
      },
    });
  });

  it("with what has no rule, no type, no code", () => {
    const outcome = websocket({ denied: [{ direction: "receive", count: 1 }], closed: { by: "peer" } });
    assert.ok(outcome?.event === "connection");
    assert.deepEqual(outcome.connection.denied, [{ direction: "receive", type: "", rule: "", count: 1 }]);
    assert.deepEqual(outcome.connection.closed, { reason: "", by: "peer" });
  });

  it("with members that are not known here, and empty lists as Lua may write them", () => {
    const expected = { event: "response", response: { result: "masked", paths: [], count: 0, dropped: 0 } };
    assert.deepEqual(response({ paths: {}, later: { any: [1] } }), expected);
    assert.deepEqual(read({ response: { result: "masked" }, later: 1 }), expected);
    assert.deepEqual(readOutcome('{"__proto__":{"websocket":{}},"response":{"result":"masked"}}'), expected);
  });

  it("with key names of any kind", () => {
    const paths = ["$.__proto__.constructor", '$["a\u0000\n\u202e"]', "$.\ud83d\ude42"];
    const outcome = response({ paths });
    assert.deepEqual(outcome?.event === "response" && outcome.response.paths, paths);
  });

  describe("are refused where they are", () => {
    const wrong: Record<string, unknown> = {
      "no object": [],
      null: null,
      neither: {},
      both: { response: { result: "masked" }, websocket: FULL },
      "without a result": { response: {} },
      "of an unknown result": { response: { result: "fine" } },
      "of a result that every object has": { response: { result: "constructor" } },
      "with a list for an answer": { response: [] },
      "with a count below zero": { response: { result: "masked", count: -1 } },
      "with half a count": { response: { result: "masked", count: 0.5 } },
      "with a count beyond all": { response: { result: "masked", count: 2 ** 53 } },
      "with a count as text": { response: { result: "masked", count: "1" } },
      "with a null count": { response: { result: "masked", count: null } },
      "with a reason that is none": { response: { result: "masked", reason: 7 } },
      "with a long reason": { response: { result: "masked", reason: "x".repeat(4_097) } },
      "with a path that is none": { response: { result: "masked", paths: [1] } },
      "with a long path": { response: { result: "masked", paths: ["x".repeat(4_097)] } },
      "with too many paths": { response: { result: "masked", paths: Array(201).fill("$.a") } },
      "with paths in an object": { response: { result: "masked", paths: { 1: "$.a" } } },
      "without messages sent": { websocket: { received: {} } },
      "without messages received": { websocket: { sent: {} } },
      "with too many denials": { websocket: { ...FULL, denied: Array(201).fill(FULL.denied[0]) } },
      "with a denial that is none": { websocket: { ...FULL, denied: [null] } },
      "with a denial in no direction": { websocket: { ...FULL, denied: [{ count: 1 }] } },
      "closed by nobody": { websocket: { ...FULL, closed: { code: 1000 } } },
      "with a close code that is none": { websocket: { ...FULL, closed: { code: "1", by: "peer" } } },
    };
    for (const [name, value] of Object.entries(wrong)) {
      it(name, () => {
        assert.equal(read(value), undefined);
      });
    }

    it("no JSON", () => {
      for (const text of ["", "{", "nil", '{"response":{"result":"masked"}}x']) {
        assert.equal(readOutcome(text), undefined);
      }
    });
  });

  it("are read or refused, and nothing else", () => {
    const member = fc.constantFrom(
      "response",
      "websocket",
      "result",
      "paths",
      "count",
      "sent",
      "received",
      "closed",
      "denied",
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.jsonValue(),
        fc.constantFrom("masked", 1, -1, "peer", FULL, FULL.denied),
        fc.dictionary(member, tie("value"), { maxKeys: 6 }),
        fc.array(tie("value"), { maxLength: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => {
        const outcome = read(any);
        if (outcome === undefined) return;
        const again =
          outcome.event === "response" ? { response: outcome.response } : { websocket: outcome.connection };
        assert.deepEqual(read(again), outcome);
      }),
      { numRuns: runs(500) },
    );
  });
});
