import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { authzenDoor, createEvaluate } from "../../../src/authorizers/authzen/evaluate.ts";
import type { AuthzenSettings } from "../../../src/authorizers/authzen/index.ts";
import { BadRequest } from "../../../src/authorizers/authzen/tuple.ts";
import type { JsonObject } from "../../../src/json/index.ts";
import { snapshotOf, useIssuer } from "../../decision/support.ts";
import { expectedAt, lineOf, REFUSED, TABLE, titleOf } from "../support/case-table.ts";
import { useServedDoors } from "../../decision/point/support/served-doors.ts";

interface Question {
  readonly subject: string;
  readonly type?: string;
  readonly properties?: JsonObject;
  readonly action: string;
  readonly resource: JsonObject;
  readonly context?: JsonObject;
  readonly reason: string;
}

const OWN = parse(readFileSync(new URL("../../cases/doors/authzen.yaml", import.meta.url), "utf8")) as Pick<
  AuthzenSettings,
  "actions" | "resources"
> & {
  readonly policies: string;
  readonly questions: readonly Question[];
};
const CALL = { deadline: Number.POSITIVE_INFINITY };

/** In place of a reason: the action is that of no request. */
const UNMAPPED = "UNMAPPED";

describe("authorizers: the Authorization API", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const decide = async (policies: string, body: JsonObject, settings: Partial<AuthzenSettings> = {}) => {
    const whole = {
      actions: {},
      resources: {},
      subjects: ["user"],
      subjectSources: {},
      customers: false,
      ...settings,
    };
    const { dependencies, recorded } = serve(authzenDoor(whole), { policies: snapshotOf(policies) });
    const answer = await createEvaluate(whole, dependencies).one(body, CALL);
    return { answer, recorded: await recorded() };
  };

  describe("the case table", () => {
    for (const row of TABLE.requests)
      it(titleOf(row), async () => {
        const reason = expectedAt("authzen", row);
        const [method, target] = lineOf(row.line);
        const [id = "", ...query] = target.split("?");
        const headers: Record<string, string[]> = {};
        for (const header of row.headers ?? []) {
          const [name = "", ...value] = header.split(":");
          (headers[name] ??= []).push(value.join(":").trim());
        }
        const asked = decide(TABLE.policies, {
          subject: {
            type: row.token === undefined ? "anonymous" : "user",
            id: row.token ?? "nobody",
            // the rules of the table read one attribute more
            properties: { ip_address: "127.0.0.1", role: "viewer" },
          },
          action: { name: method },
          resource: {
            type: "route",
            id,
            properties: { host: "app.test", scheme: "http", query: query.join("?") },
          },
          context: { headers },
        });
        if (reason === REFUSED) return assert.rejects(asked, BadRequest);
        const { answer, recorded } = await asked;
        if (reason === UNMAPPED) {
          assert.deepEqual([answer.decision, recorded], [false, []]);
          return;
        }
        const permitted = reason === "CONDITION_TRUE";
        assert.deepEqual(recorded, [`${permitted ? "ALLOW" : "DENY"} ${reason}`]);
        assert.equal(answer.decision, permitted);
        if (!permitted) assert.match(JSON.stringify(answer.context), new RegExp(`"en":"${reason}"`));
      });
  });

  describe("questions in the form of the standard", () => {
    for (const { subject, type = "user", properties, action, resource, context, reason } of OWN.questions)
      it(`${type} ${subject} ${JSON.stringify(properties ?? {})} ${action} ${JSON.stringify(resource)}`, async () => {
        const body = {
          subject: { type, id: subject, ...(properties && { properties }) },
          action: { name: action },
          resource,
          ...(context && { context }),
        };
        const { answer, recorded } = await decide(OWN.policies, body, OWN);
        const permitted = reason === "CONDITION_TRUE";
        assert.deepEqual(recorded, [`${permitted ? "ALLOW" : "DENY"} ${reason}`]);
        assert.equal(answer.decision, permitted);
      });
  });

  it("what is mapped to no request is not permitted", async () => {
    const subject = { type: "user", id: "alice" };
    for (const [action, resource] of [
      ["can_fly", { type: "document", id: "1" }],
      ["read", { type: "planet", id: "1" }],
      ["toString", { type: "document", id: "1" }],
      ["read", { type: "constructor", id: "1" }],
    ] as const) {
      const body = { subject, action: { name: action }, resource };
      const { answer, recorded } = await decide(OWN.policies, body, OWN);
      assert.equal(answer.decision, false);
      assert.equal((answer.context as { error: { status: number } }).error.status, 404);
      assert.deepEqual(recorded, []);
    }
  });

  it("what may be a handshake is not decided as if it were none", async () => {
    const policies = [
      "policies: [{ resource: GET /**, condition: true }]",
      'websocket_policies: [{ connection: { path: /ws, condition: user.role == "admin" } }]',
    ].join("\n");
    const about = async (id: string, context?: JsonObject) => {
      const subject = { type: "user", id: "alice", properties: { role: "viewer" } };
      const resource = { type: "route", id, properties: { query: "" } };
      return (
        await decide(policies, { subject, action: { name: "GET" }, resource, ...(context && { context }) })
      ).recorded;
    };
    assert.deepEqual(await about("/ws"), ["DENY CONDITION_UNKNOWN"]);
    assert.deepEqual(await about("/ws", { headers: {} }), ["ALLOW CONDITION_TRUE"]);
    assert.deepEqual(await about("/ws", { headers: { upgrade: "websocket", connection: "upgrade" } }), [
      "DENY CONDITION_FALSE",
    ]);
    assert.deepEqual(await about("/page"), ["ALLOW CONDITION_TRUE"]);
  });

  it("with customers' own policies, who belongs to an unknown customer is not permitted", async () => {
    const about = (properties: JsonObject) =>
      decide(
        OWN.policies,
        {
          subject: { type: "user", id: "alice", properties },
          action: { name: "GET" },
          resource: { type: "route", id: "/todos/1" },
        },
        { ...OWN, customers: true },
      );
    assert.deepEqual((await about({})).recorded, ["DENY PLAN_NOT_ENFORCEABLE"]);
    assert.deepEqual((await about({ customer: null })).recorded, ["ALLOW CONDITION_TRUE"]);
    assert.deepEqual((await about({ customer: { id: "c-1" } })).recorded, ["ALLOW CONDITION_TRUE"]);
    for (const customer of [{}, { name: "acme" }, { id: 7 }, { id: "" }, { id: null }])
      assert.deepEqual((await about({ customer })).recorded, ["DENY PLAN_NOT_ENFORCEABLE"]);
    for (const customer of ["acme", ["acme"], 7, false, ""])
      await assert.rejects(about({ customer }), BadRequest, JSON.stringify(customer));
  });
});
