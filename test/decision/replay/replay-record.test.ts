import { strict as assert } from "node:assert";
import { createInputHash, createInputProtection } from "../../../src/decision/inputs/index.ts";
import { auditRecord } from "../../../src/decision/point/record.ts";
import { replayRecord } from "../../../src/decision/replay/index.ts";
import { accessOf, snapshotOf } from "../support.ts";
import { KEY, HASH, decidesFor, recordOf, outcomeOf, rule, ROLES, ADMIN } from "./support.ts";

describe("replaying a record", () => {
  it("is for gateways that keep inputs: without, decisions and records hold none", async () => {
    const access = accessOf({ path: "/x" });
    const record = async (keepInputs: boolean) => {
      const decision = await decidesFor(
        { main: ROLES, customers: new Map() },
        ADMIN.user,
        keepInputs,
      )(access);
      const protection = createInputProtection({ keep: [] });
      return [
        "inputs" in decision,
        "inputs" in auditRecord(decision, { access, at: Date.now() }, 1, false, protection),
      ];
    };
    assert.deepEqual(
      [await record(false), await record(true)],
      [
        [false, false],
        [true, true],
      ],
    );
  });

  it("says unchanged for the same set, and who loses and gains with another", async () => {
    const admin = await recordOf(ROLES, ADMIN, { keep: ["user.role"] });
    const guest = await recordOf(ROLES, { user: { id: "u2", role: "guest" } }, { keep: ["user.role"] });
    assert.equal(admin.decision, "ALLOW");
    for (const record of [admin, guest]) assert.equal(outcomeOf(record, { candidate: ROLES }), "unchanged");
    const other = { candidate: rule('user.role == "guest"') };
    assert.equal(outcomeOf(admin, other), "loses");
    assert.equal(outcomeOf(guest, other), "gains");
  });

  it("never says unchanged without the inputs that a rule needs", async () => {
    const record = await recordOf(ROLES, ADMIN, { keep: ["user.role"] });
    const other = { candidate: rule('user.department == "sales"') };
    assert.equal(outcomeOf(record, other), "not replayable: `user.department` is not recorded");
    const { inputs, ...bare } = record;
    assert.ok(inputs);
    assert.match(outcomeOf(bare, { candidate: ROLES }), /^not replayable: the record has no inputs/);
    const redacted = await recordOf(ROLES, ADMIN);
    assert.equal(
      outcomeOf(redacted, { candidate: ROLES }),
      "not replayable: the value of `user.role` is redacted",
    );
  });

  it("decides without what the verdict does not depend on", async () => {
    const record = await recordOf(ROLES, ADMIN, { keep: ["user.role"] });
    const decided = rule('user.role == "admin" or user.department == "sales"');
    assert.equal(outcomeOf(record, { candidate: decided }), "unchanged");
    const lost = rule('user.role == "guest" and user.department == "sales"');
    assert.equal(outcomeOf(record, { candidate: lost }), "loses");
  });

  it("compares hashes with literals, and with nothing that needs the value", async () => {
    const record = await recordOf(ROLES, ADMIN, { hashed: true });
    assert.doesNotMatch(JSON.stringify(record.inputs), /admin/);
    const hash = HASH;
    assert.equal(outcomeOf(record, { candidate: ROLES, hash }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: rule('user.role in ["a", "b"]'), hash }), "loses");
    assert.match(
      outcomeOf(record, { candidate: rule('user.role.startsWith("ad")'), hash }),
      /only a hash of/,
    );
    assert.match(outcomeOf(record, { candidate: ROLES }), /hashed with a key that was not given/);
    const another = createInputHash(`${KEY}x`);
    assert.match(
      outcomeOf(record, { candidate: ROLES, hash: another }),
      /hashed with a key that was not given/,
    );
  });

  it("never writes credentials, whatever the configuration keeps", async () => {
    const jwt = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.e30.c2ln`;
    const reads = rule(
      'request.headers.authorization != "a" and request.headers.cookie != "a" and user.api_token != "a" and user.note != "a" and request.query.page != "a"',
    );
    for (const hashed of [undefined, true] as const) {
      const record = await recordOf(
        reads,
        {
          path: `/x?page=${jwt}`,
          headers: [
            ["authorization", "Basic c2VjcmV0"],
            ["cookie", "sid=c2VjcmV0"],
          ],
          user: { id: "u1", api_token: "c2VjcmV0", note: `see ${jwt}` },
        },
        { keep: ["user", "request.headers", "request.query"], ...(hashed && { hashed }) },
      );
      const text = JSON.stringify(record.inputs);
      assert.doesNotMatch(text, /c2VjcmV0|eyJ/);
      assert.ok(record.inputs !== undefined && "redacted" in record.inputs, text);
      // five that rules read, and all of `user`, which is kept with them
      assert.equal(record.inputs.redacted.length, 6, text);
    }
  });

  it("follows the path of the candidate's own rule", async () => {
    const stable = snapshotOf(
      'policies:\n  - { resource: "GET /a/{id}", condition: "path.id == user.id" }\n',
    );
    const record = await recordOf(stable, { path: "/a/u1", user: { id: "u1" } });
    assert.equal(record.decision, "ALLOW");
    const more = snapshotOf(
      'policies:\n  - { resource: "GET /a/{id}", condition: "path.id == user.id" }\n  - { resource: "GET /a/u1", condition: "false" }\n',
    );
    assert.equal(outcomeOf(record, { candidate: stable }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: more }), "loses");
  });

  it("compares what response rules mask", async () => {
    const masks = (condition: string) =>
      snapshotOf(
        `policies:\n  - { resource: "GET /x", condition: "exists(user.role)" }\nresponse_filters:\n  - { endpoint: "GET /x", filter_rules: [{ field: ssn, action: remove, condition: ${JSON.stringify(condition)} }] }\n`,
      );
    const stable = masks('user.role != "admin"');
    const record = await recordOf(stable, { user: { id: "u2", role: "guest" } }, { keep: ["user.role"] });
    assert.equal(outcomeOf(record, { candidate: stable }), "unchanged");
    assert.match(
      outcomeOf(record, { candidate: masks('user.role != "guest"') }),
      /^sees_more field ssn: pass, was remove/,
    );
    const late = masks("item.public != true");
    assert.match(outcomeOf(record, { candidate: late }), /^sees_more/);
  });

  it("decides GraphQL operations again, unless a rule reads an argument that is not recorded", async () => {
    const shop = (condition: string) =>
      snapshotOf(`graphql_policies:\n  - { query: order, condition: ${JSON.stringify(condition)} }\n`);
    const asked = {
      method: "POST",
      path: "/graphql",
      headers: [["content-type", "application/json"]] as const,
      body: JSON.stringify({
        query: 'query($i: ID) { order(id: $i, note: "hidden") { id } }',
        variables: { i: "o1" },
      }),
      user: { id: "u1", role: "admin" },
    };
    const stable = shop('user.role == "admin"');
    const record = await recordOf(stable, asked, { keep: ["user.role"] });
    assert.equal(record.decision, "ALLOW", JSON.stringify(record));
    assert.doesNotMatch(JSON.stringify(record.inputs), /hidden|o1/);
    assert.equal(outcomeOf(record, { candidate: stable }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: shop('user.role == "guest"') }), "loses");
    const other = { candidate: shop('args.id == "o2"') };
    assert.match(outcomeOf(record, other), /an argument of a GraphQL operation is not recorded/);
    const kept = await recordOf(stable, asked, { keep: ["user.role", "args.id"] });
    assert.equal(outcomeOf(kept, other), "loses");
    assert.equal(outcomeOf(kept, { candidate: shop('args.id == "o1"') }), "unchanged");
  });

  it("says of a held connection that it would be held again, or not", async () => {
    const set = (condition: string) =>
      snapshotOf(
        "graphql_policies:\n  - { query: me, condition: true }\n" +
          `websocket_policies:\n  - connection: { path: /graphql, condition: '${condition}' }\n`,
      );
    const headers = [
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-protocol", "graphql-transport-ws"],
    ] as const;
    const record = await recordOf(set("exists(user.id)"), { path: "/graphql", headers });
    assert.equal(record.reason, "CONNECTION_HELD");
    assert.equal(outcomeOf(record, { candidate: set("exists(user.id)") }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: set('user.role == "admin"') }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: set("false") }), "loses");
  });

  it("compares which messages of a WebSocket connection pass", async () => {
    const chat = (role: string, condition = "true") =>
      snapshotOf(
        `websocket_policies:\n  - connection: { path: /ws, condition: 'exists(user.role)' }\n    message_types:\n      - { type: admin, condition: 'user.role == "${role}"' }\n      - { type: say, condition: '${condition}' }\n`,
      );
    const headers = [
      ["upgrade", "websocket"],
      ["connection", "Upgrade"],
    ] as const;
    const record = await recordOf(chat("admin"), { path: "/ws", headers, ...ADMIN }, { keep: ["user.role"] });
    assert.equal(record.decision, "ALLOW", JSON.stringify(record));
    assert.equal(outcomeOf(record, { candidate: chat("admin") }), "unchanged");
    assert.equal(outcomeOf(record, { candidate: chat("guest") }), "sees_less send admin: never, was pass");
    assert.match(
      outcomeOf(record, { candidate: chat("admin", "message.to == 1") }),
      /^sees_less send say: if/,
    );
  });

  it("never says unchanged if the rule reads a part of the request that is not recorded", async () => {
    const record = await recordOf(ROLES, ADMIN, { keep: ["user.role"] });
    // two `page` are refused before the condition is evaluated
    const paged = rule('user.role == "admin" or request.query.page == "1"');
    assert.equal(
      outcomeOf(record, { candidate: paged }),
      "not replayable: `request.query.page` is not recorded",
    );
    const seen = await recordOf(paged, ADMIN, { keep: ["user.role"] });
    assert.equal(outcomeOf(seen, { candidate: paged }), "unchanged");
    const denied = rule('user.role == "guest" and request.query.page == "1"');
    assert.equal(outcomeOf(record, { candidate: denied }), "loses");
  });

  it("knows no more of the client's connection than the door told", async () => {
    const unknown = { members: new Set(["client_ip", "scheme"] as const) };
    for (const condition of ['request.client_ip != "203.0.113.9"', 'request.scheme == "http"']) {
      const candidate = rule(condition);
      // whether the rule that decided has read it, or another one does
      for (const set of [candidate, rule("true")]) {
        const record = await recordOf(set, { path: "/x", unknown });
        assert.equal(record.decision, set === candidate ? "DENY" : "ALLOW");
        assert.equal(outcomeOf(record, { candidate }), set === candidate ? "unchanged" : "loses", condition);
        const told = await recordOf(set, { path: "/x" });
        assert.equal(outcomeOf(told, { candidate }), "unchanged", condition);
      }
    }
    // as Traefik has it: its requests have no protocol
    const http10 = rule('request.protocol != "HTTP/1.0"');
    for (const set of [http10, rule("true")]) {
      const untold = await recordOf(set, { path: "/x", protocol: "" });
      assert.equal(untold.decision, set === http10 ? "DENY" : "ALLOW");
      assert.equal(
        outcomeOf(untold, { candidate: http10, stable: set }),
        set === http10 ? "unchanged" : "loses",
      );
    }
    // the others are known
    const record = await recordOf(rule("true"), { path: "/x", unknown });
    assert.equal(outcomeOf(record, { candidate: rule('request.method == "GET"') }), "unchanged");
  });

  it("knows no more of a handshake or an operation than the door told", async () => {
    const sockets = snapshotOf(`
policies: [{ resource: GET /x, condition: "true" }]
websocket_policies:
  - connection: { path: /x, condition: "true" }
    message_types: [{ type: a, condition: "true" }]
`);
    const graphql = snapshotOf(`
policies: [{ resource: GET /graphql, condition: "true" }]
graphql_policies: [{ query: mine, condition: "true" }]
`);
    const bare = snapshotOf(
      'policies: [{ resource: GET /x, condition: "true" }, { resource: GET /graphql, condition: "true" }]',
    );
    for (const [path, candidate, unknown] of [
      ["/x", sockets, { headers: "all" }],
      ["/graphql", graphql, { query: "all" }],
      ["/graphql", graphql, { query: new Set(["query"]) }],
    ] as const) {
      const record = await recordOf(bare, { path, unknown });
      assert.equal(record.decision, "ALLOW");
      assert.equal(outcomeOf(record, { candidate, stable: bare }), "loses", path);
      const denied = await recordOf(candidate, { path, unknown });
      assert.deepEqual([denied.decision, denied.reason], ["DENY", "CONDITION_UNKNOWN"]);
      assert.equal(outcomeOf(denied, { candidate, stable: candidate }), "unchanged");
    }
  });

  it("leaves inputs out if the path or the operation contains a credential", async () => {
    const jwt = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.e30.c2ln`;
    const any = snapshotOf('policies:\n  - { resource: "GET /reset/{code}", condition: "true" }\n');
    const reset = await recordOf(any, { path: `/reset/${jwt}` });
    assert.deepEqual([reset.decision, reset.inputs], ["ALLOW", { left_out: "credential" }]);
    assert.equal(
      outcomeOf(reset, { candidate: any }),
      "not replayable: the path or operation contains what looks like a credential",
    );
    const shop = snapshotOf("graphql_policies:\n  - { query: order, condition: true }\n");
    const asked = (query: string) => ({
      ...{ method: "POST", path: "/graphql", body: JSON.stringify({ query }) },
      headers: [["content-type", "application/json"]] as const,
    });
    const named = await recordOf(shop, asked("query eyJhbGciOiJSUzI1NiJ9 { order { id } }"));
    assert.deepEqual([named.decision, named.inputs], ["ALLOW", { left_out: "credential" }]);
    const usual = await recordOf(shop, asked("query order {\n  order { id }\n}"));
    assert.equal(outcomeOf(usual, { candidate: shop }), "unchanged");
  });

  it("reports a verdict that the stable set does not give", async () => {
    const record = await recordOf(ROLES, ADMIN, { keep: ["user.role"] });
    const stable = rule('user.role == "guest"');
    assert.equal(replayRecord(record, { candidate: ROLES, stable }).reproduced, false);
    assert.equal(replayRecord(record, { candidate: ROLES, stable: ROLES }).reproduced, true);
  });

  it("finds every one of a hundred sets that were widened in one place", async () => {
    for (let number = 0; number < 100; number++) {
      const conditions = Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0
          ? `user.role == "r${index}" and user.level >= ${index}`
          : `"g${index}" in user.groups`,
      );
      const widened = number % 10;
      const changed = conditions.map((condition, index) =>
        index !== widened
          ? condition
          : number < 50
            ? `${condition} or user.role == "x${number}"`
            : `${condition} or not exists(user.blocked)`,
      );
      const setOf = (all: readonly string[]) =>
        snapshotOf(
          `policies:\n${all.map((condition, index) => `  - { resource: "GET /p${index}/{id}", condition: ${JSON.stringify(condition)} }\n`).join("")}`,
        );
      const [stable, candidate] = [setOf(conditions), setOf(changed)];
      const user = { id: "u", role: `x${number}`, level: 0, groups: [] };
      let gained = 0;
      for (let index = 0; index < conditions.length; index++) {
        const keep = ["user.role", "user.level", "user.groups", "user.blocked"];
        const record = await recordOf(stable, { path: `/p${index}/1`, user }, { keep });
        assert.equal(outcomeOf(record, { candidate: stable }), "unchanged");
        const outcome = outcomeOf(record, { candidate });
        assert.equal(outcome, index === widened ? "gains" : "unchanged");
        if (outcome === "gains") gained++;
      }
      assert.equal(gained, 1);
    }
  });
});
