import assert from "node:assert/strict";
import { recordsRoutes } from "../../src/control/analytics/records/routes.ts";
import { startControl, type RunningControl } from "../support/control.ts";
import { decisionRecord, GATEWAY_KEY } from "./support/gateway-records.ts";

const NOW = Date.parse("2026-03-01T12:30:00Z");

describe("review: a record that must not hold up the others of its batch", () => {
  let control: RunningControl;

  before(async () => {
    control = await startControl({ clock: () => NOW, routes: recordsRoutes });
  });
  after(() => control.close());

  for (const [name, parts] of [
    ["of the year 10000, by its zone", { timestamp: "9999-12-31T23:59:59-14:00" }],
    ["of the last moment that has four digits", { timestamp: "9999-12-31T23:59:59.999Z" }],
    ["that took as long as a number can say", { evaluation_time_us: Number.MAX_SAFE_INTEGER }],
    [
      "with the longest texts",
      {
        customer_id: "c".repeat(512),
        user_id: "u".repeat(1024),
        rule: "r".repeat(1024),
        rule_resource: "g".repeat(4096),
      },
    ],
    [
      "with texts of many bytes",
      {
        customer_id: "\u{1f600}".repeat(128),
        user_id: "\u{1f600}".repeat(256),
        rule_resource: "\u{1f600}".repeat(400),
        rule: "x",
      },
    ],
    [
      "of a violation with all of that",
      {
        decision: "DENY",
        reason: "MFA_REQUIRED",
        customer_id: "\u{1f600}".repeat(128),
        user_id: "\u{1f600}".repeat(256),
        customer_policy_set: "s".repeat(9000),
        resource: `/${"r".repeat(16_000)}`,
      },
    ],
  ] as const) {
    it(`one ${name}`, async () => {
      const records = [decisionRecord(parts), decisionRecord()];
      const answer = await control.request("POST", "/gateway/records", {
        body: { records },
        as: GATEWAY_KEY,
      });
      assert.equal(answer.status, 200, answer.text);
      const { accepted, rejected } = answer.body.data as { accepted: number; rejected: object[] };
      assert.equal(accepted + rejected.length, 2);
      assert.ok(accepted >= 1);
    });
  }
});

describe("review: a batch that is nested deeper than a function can walk", () => {
  let control: RunningControl;

  before(async () => {
    control = await startControl({ clock: () => NOW, routes: recordsRoutes });
  });
  after(() => control.close());

  const deep = (depth: number) => {
    const record = JSON.stringify(decisionRecord()).slice(0, -1);
    return `{"records":[${record},"deep":${"[".repeat(depth)}${"]".repeat(depth)}}]}`;
  };

  for (const headers of [{}, { "idempotency-key": "deep" }] as const)
    it(`is refused, and as deep as is read its record alone is: ${JSON.stringify(headers)}`, async () => {
      const send = async (text: string) => {
        const answer = await fetch(`${control.url}/v1/gateway/records`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${Buffer.from(JSON.stringify(GATEWAY_KEY)).toString("base64url")}`,
            ...headers,
          },
          body: text,
        });
        return [answer.status, JSON.parse(await answer.text())] as const;
      };
      for (const depth of [998, 100_000]) {
        const [status, body] = await send(deep(depth));
        assert.deepEqual(
          [status, body.error.code, body.error.message],
          [400, "MALFORMED_JSON", "the body is nested more than 1000 deep"],
        );
      }
      // three levels are around it
      const [status, body] = await send(deep(997));
      assert.deepEqual([status, body.data.accepted, body.data.rejected.length], [200, 0, 1]);
    });
});

describe("review: statistics of a time that cannot be counted by", () => {
  let control: RunningControl;

  before(async () => {
    control = await startControl({ clock: () => NOW, routes: recordsRoutes });
  });
  after(() => control.close());

  for (const to of ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-14:00"]) {
    it(`${to} is refused`, async () => {
      const audit = { decided: 1, recorded: 1, dropped: 0 };
      const body = { instance: "gw", sequence: 1, from: "2026-03-01T12:00:00Z", to, caches: [], audit };
      const answer = await control.request("POST", "/gateway/statistics", { body, as: GATEWAY_KEY });
      assert.equal(answer.status, 422, answer.text);
      assert.equal(answer.body.error.details.fields[0].path, "to");
    });
  }
});
