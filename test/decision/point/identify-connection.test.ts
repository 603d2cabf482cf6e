import assert from "node:assert/strict";
import { ConnectionCounts } from "../../../src/decision/connections/connection-counts.ts";
import { holderOf } from "../../../src/decision/connections/connection-holder.ts";
import type { ConnectionRegistry } from "../../../src/decision/connections/connection-registry.ts";
import { reevaluationOf } from "../../../src/decision/connections/reevaluation.ts";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { createIdentifyConnection } from "../../../src/decision/point/identify-connection.ts";
import { DecisionPoint } from "../../../src/decision/point/decision-point.ts";
import type { AccessRequest } from "../../../src/decision/types.ts";
import type { AuditRecord } from "../../../src/protocol/record.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { registry } from "../connections/support.ts";
import { accessOf, bearer, deciderOf, silent, silentLog, snapshotOf, useIssuer } from "../support.ts";

const POLICIES = `
graphql_policies:
  - { query: me, condition: exists(user.id) }
websocket_policies:
  - connection: { path: /graphql, condition: true }
  - connection: { path: /held, condition: exists(user.id) }
graphql: { paths: [/graphql, /held] }
`;
const HANDSHAKE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-protocol", "graphql-transport-ws"],
] as const;
const tokens = { connectionParams: [["authorization"]] };
const init = (payload: unknown) => JSON.stringify({ type: "connection_init", payload });

describe("decision: the client of a connection says who it is", () => {
  const idp = useIssuer();

  /** One process with a single open connection, `dec_1`. */
  function setup({ capacity = 100, perUser = 10, audit = "optional", path = "/graphql" } = {}) {
    const set = snapshotOf(audit === "broken" ? `audit: required\n${POLICIES}` : POLICIES);
    const ended = new Set<string>();
    const state: KnownState = {
      customer: () => undefined,
      sessionEnded: (id) => ended.has(id),
      userStatus: () => "active",
    };
    const decide = deciderOf(set, {
      verifier: idp.verifier,
      tokens,
      controlPlane: { state: () => state },
    });
    const decidedBy = () => ({ policies: { main: set, customers: new Map() }, state });
    const counts = new ConnectionCounts({ worker: 0, broadcast: silent });
    const { connections, state: noted } = registry({
      clock: Date.now,
      capacity,
      perHolder: { limit: perUser, counts },
      evaluate: async (access) => reevaluationOf(access, await decide(access), decidedBy()),
    });
    const records: AuditRecord[] = [];
    const hooks = { decided: silent };
    const point = new DecisionPoint({
      decide: async (access) => {
        const decision = await decide(access);
        hooks.decided();
        return decision;
      },
      snapshot: () => set,
      audit: {
        record: (_verdict: string, build: () => AuditRecord) => {
          records.push(build());
        },
        recordDurably: () => undefined,
        recordRefusal: silent,
        accepting: () => audit !== "broken",
        wantsTrace: false,
      } as unknown as ConstructorParameters<typeof DecisionPoint>[0]["audit"],
      metrics: createMetrics(),
      log: silentLog,
    });
    let serial = 0;
    const identify = createIdentifyConnection({
      ...{ point, registry: connections, tokens, decidedBy, decisionTimeout: 5_000 },
      nextDecisionId: () => `dec_new_${String((serial += 1))}`,
    });
    const open = async (id = "dec_1", headers: AccessRequest["raw"]["headers"] = []) => {
      const access = accessOf({
        path,
        headers: [...HANDSHAKE, ...headers],
        requestId: `r-${id}`,
        at: Date.now() - 1,
      });
      const decision = await decide(access);
      assert.equal(decision.verdict, "ALLOW");
      const { identity } = decision;
      const held = decision.reason === "CONNECTION_HELD";
      const holder = holderOf(identity, decision.clientIp);
      const planText = JSON.stringify(decision.plan);
      assert.ok(connections.add({ decisionId: id, access, planText, identity, holder, held }));
    };
    return { identify, connections, records, counts, ended, hooks, open, noted };
  }
  const closedIn = (connections: ConnectionRegistry, id = "dec_1") => connections.directives().closed[id];
  const params = async (claims = {}) => init({ authorization: `Bearer ${await idp.token(claims)}` });

  it("is who the token says, with a record of its own and the handshake's request id", async () => {
    const { identify, open, records, connections, counts } = setup();
    await open();
    const exp = Math.floor(Date.now() / 1000) + 100;
    const answer = await identify("dec_1", await params({ exp }));
    assert.ok(answer.result === "identified");
    assert.equal(answer.plan.expiresAt, exp);
    assert.match(answer.plan.text, /"query"/);
    assert.deepEqual(
      records.map(({ decision, reason, user_id: user, request_id: request, decision_id: id, detail }) => ({
        ...{ decision, reason, user, request, id, detail },
      })),
      [
        {
          ...{
            decision: "ALLOW",
            reason: "CONDITION_TRUE",
            user: "u-1",
            request: "r-dec_1",
            id: "dec_new_1",
          },
          detail: "connection_init of dec_1",
        },
      ],
    );
    const user = holderOf(
      { user: {}, userId: "u-1", session: { amr: [], subject: "u-1" }, expiresAt: 0 },
      "",
    );
    assert.deepEqual([counts.of(user), counts.of(holderOf(undefined, "127.0.0.1"))], [1, 0]);
    // and is still that when it is evaluated again
    await connections.reevaluate();
    assert.deepEqual(connections.directives(), { closed: {}, plans: {} });
    connections.ended(["dec_1"]);
    assert.equal(counts.of(user), 0);
  });

  it("is nobody without a token, which is no decision", async () => {
    const { identify, open, records, connections } = setup();
    await open();
    assert.deepEqual(await identify("dec_1", init({})), { result: "unchanged" });
    assert.deepEqual([records, connections.directives().closed], [[], {}]);
  });

  it("must say it where the connection is held", async () => {
    const { identify, open, records, connections } = setup({ path: "/held" });
    await open();
    const closing = { code: 4403, reason: "IDENTITY_REQUIRED" };
    assert.deepEqual(await identify("dec_1", init({})), { result: "refused", closing });
    assert.deepEqual(
      records.map(({ decision, reason }) => `${decision} ${reason}`),
      ["DENY IDENTITY_REQUIRED"],
    );
    assert.deepEqual(closedIn(connections), closing);
    const { identify: again, open: openAgain } = setup({ path: "/held" });
    await openAgain();
    assert.equal((await again("dec_1", await params())).result, "identified");
  });

  it("says it once, on a connection that exists", async () => {
    const { identify, open, records } = setup();
    const lost = { result: "refused", closing: { code: 1013, reason: "SERVICE_UNAVAILABLE" } };
    assert.deepEqual(await identify("dec_1", await params()), lost);
    assert.deepEqual(records, []);
    await open();
    const [first, second] = await Promise.all([
      identify("dec_1", await params()),
      identify("dec_1", init({})),
    ]);
    assert.equal(first.result, "identified");
    assert.deepEqual(second, lost);
  });

  it("is refused with a bad token, for the token's reason", async () => {
    const { identify, open, records, connections } = setup();
    await open();
    const closing = { code: 4403, reason: "TOKEN_EXPIRED" };
    assert.deepEqual(await identify("dec_1", await params({ exp: 1 })), { result: "refused", closing });
    assert.deepEqual(
      records.map(({ decision, reason }) => `${decision} ${reason}`),
      ["DENY TOKEN_EXPIRED"],
    );
    assert.deepEqual(closedIn(connections), closing);
  });

  it("counts against its own limit", async () => {
    const { identify, open, records, connections } = setup({ perUser: 2 });
    await open("dec_1");
    await open("dec_2");
    assert.equal((await identify("dec_1", await params())).result, "identified");
    assert.equal((await identify("dec_2", await params())).result, "identified");
    await open("dec_3");
    assert.deepEqual(await identify("dec_3", await params()), {
      result: "refused",
      closing: { code: 1013, reason: "TOO_MANY_CONNECTIONS" },
    });
    assert.equal(records.at(-1)?.reason, "TOO_MANY_CONNECTIONS_OF_USER");
    connections.ended(["dec_1", "dec_2", "dec_3"]);
    // with the same token as in the handshake it counts once
    const token = await idp.token();
    await open("dec_4", [bearer(token)]);
    await open("dec_5", [bearer(token)]);
    assert.equal((await identify("dec_5", init({ authorization: token }))).result, "identified");
  });

  it("is refused if there is no room for the token beside the handshakes", async () => {
    const { identify, open, records, connections } = setup({ capacity: 3 });
    const large = ["x-large", "x".repeat(300_000)] as const;
    for (const id of ["dec_1", "dec_2", "dec_3"]) await open(id, [large]);
    const claims = { padding: "x".repeat(10_000) };
    assert.equal((await identify("dec_1", await params(claims))).result, "identified");
    await connections.reevaluate();
    connections.ended(["dec_3"]);
    await open("dec_4", [["x-large", "x".repeat(430_000)]]);
    const answer = await identify("dec_2", await params(claims));
    assert.deepEqual(answer, { result: "refused", closing: { code: 1013, reason: "SERVICE_UNAVAILABLE" } });
    assert.equal(records.at(-1)?.reason, "TOO_MANY_CONNECTIONS");
  });

  it("is refused if the connection ends, or must end, meanwhile", async () => {
    for (const end of ["ended", "revoked"] as const) {
      const { identify, open, records, connections, hooks } = setup();
      await open();
      hooks.decided = () => {
        if (end === "ended") connections.ended(["dec_1"]);
        else connections.revoke(() => true);
      };
      const answer = await identify("dec_1", await params());
      assert.deepEqual(answer, { result: "refused", closing: { code: 1013, reason: "SERVICE_UNAVAILABLE" } });
      assert.deepEqual(
        records.map(({ decision, reason }) => `${decision} ${reason}`),
        ["DENY CONNECTION_ENDED"],
      );
      if (end === "revoked") assert.deepEqual(closedIn(connections), { code: 1008, reason: "SESSION_ENDED" });
    }
  });

  it("is evaluated again if something changes during the decision", async () => {
    const { identify, open, connections, hooks, ended } = setup();
    await open();
    hooks.decided = () => {
      ended.add("ses_1");
      // as the control plane's notice does: nobody is known to have this session yet
      connections.revoke(({ identity }) => identity?.session.id === "ses_1");
    };
    assert.equal((await identify("dec_1", await params({ sid: "ses_1" }))).result, "identified");
    await connections.reevaluate(() => false);
    assert.deepEqual(closedIn(connections), { code: 1008, reason: "SESSION_ENDED" });
  });

  it("is refused if the record is required and cannot be written", async () => {
    const { identify, open, connections } = setup({ audit: "broken" });
    await open();
    assert.equal((await identify("dec_1", await params())).result, "refused");
    assert.equal(closedIn(connections)?.code, 1013);
  });
});
