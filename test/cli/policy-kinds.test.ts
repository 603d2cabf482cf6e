import assert from "node:assert/strict";
import { createSuiteSubject } from "../../src/decision/explain/index.ts";
import { compilePolicySet } from "../../src/policy/index.ts";
import { parseSuite, runSuite } from "../../src/policy/suite/index.ts";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const SET = `policy_set: shop
policies:
  - { resource: "GET /people/{id}", condition: exists(user.id) }
response_masks:
  - name: secrets
    api_pattern: /people/*
    fields:
      - { name: ssn, condition: user.role != "hr", mask_type: partial }
      - { name: phone, condition: item.owner != user.id, mask_type: full }
graphql_policies:
  - { query: people, condition: args.limit <= 10 }
  - { name: pay, query: people.salary, condition: user.role == "hr", on_deny: null }
  - { subscription: news, condition: news.topic == user.topic }
websocket_policies:
  - connection: { path: /ws, condition: exists(user.id) }
    message_types:
      - { type: join, condition: message.room in user.rooms, on_deny: close }
      - type: said
        direction: receive
        condition: true
        fields: [{ name: email, condition: item.of != user.id, mask_type: remove }]
  - connection: { name: subscriptions, path: /graphql, condition: exists(user.id) }
`;

const SUITE = `policy_set: shop
people:
  viewer: { id: u-1, role: viewer, rooms: [a], topic: x }
  hr: { id: u-2, role: hr, rooms: [] }
tests:
  - name: a viewer sees the end of a number, and his own phone
    request: GET /people/7
    user: viewer
    response:
      body: [{ ssn: 123-45-6789, phone: "1", owner: u-1 }, { phone: "2", owner: u-2 }]
    expect: allow
    expect_body: [{ ssn: "***6789", phone: "1", owner: u-1 }, { phone: "***", owner: u-2 }]
    masked: ["$[*].ssn", "$[*].phone"]
  - name: byte for byte
    request: GET /people/7
    user: hr
    response: { status: 404, body: '{ "ssn" : 1.50 }' }
    expect: allow
    expect_body: '{ "ssn" : 1.50 }'
    masked: []
  - name: pages are withheld
    request: GET /people/7
    user: viewer
    response: { headers: { content-type: text/html }, body: <p> }
    expect: allow
    expect_refused: true
  - name: nobody
    request: GET /people/7
    expect: deny
  - name: few people, without their pay
    graphql: { query: "query($n: Int) { people(limit: $n) { salary } }", variables: { n: 5 } }
    user: viewer
    response: { body: { data: { people: [{ salary: 5 }] } } }
    expect: allow
    reason: GRAPHQL_ALLOWED
    rule: pay
    denied: [people.salary]
    expect_body:
      data: { people: [{ salary: null }] }
      errors:
        - message: access to "people.salary" is denied
          path: [people, salary]
          extensions: { code: ACCESS_DENIED }
  - name: many people
    graphql: "{ all: people(limit: 50) { salary } }"
    user: hr
    expect: deny
    rule: graphql_policies[0]
    denied: [all]
  - name: rooms
    websocket: /ws
    user: viewer
    expect: allow
    messages:
      - { send: { type: join, room: a }, expect: allow }
      - { send: { type: dance }, expect: deny }
      - receive: { type: said, by: { of: u-1, email: a }, to: { of: u-2, email: b } }
        expect: allow
        delivered: { type: said, by: { of: u-1, email: a }, to: { of: u-2 } }
      - { send: { type: join, room: b }, expect: deny, rule: "websocket_policies[0].message_types[0]" }
      - { send: { type: join, room: a }, expect: deny }
  - name: nobody connects
    websocket: /ws
    expect: deny
  - name: news
    websocket: { path: /graphql, headers: { sec-websocket-protocol: graphql-transport-ws } }
    user: viewer
    expect: allow
    messages:
      - { send: { type: connection_init }, expect: allow }
      - send: { id: "1", type: subscribe, payload: { query: "subscription { news { topic } }" } }
        expect: allow
      - { receive: { id: "1", type: next, payload: { data: { news: { topic: x } } } }, expect: allow }
      - { receive: { id: "1", type: next, payload: { data: { news: { topic: y } } } }, expect: deny }
  - name: nobody subscribes
    websocket: /graphql
    expect: deny
    rule: subscriptions
`;

describe("cli: policy, answers, operations and messages", () => {
  const kept = keptCommandLine();
  let folder: Folder;
  beforeEach(async () => {
    folder = await folderOf({ "policies/shop.yaml": SET, "policies/shop.test.yaml": SUITE });
  });
  afterEach(() => folder.remove());
  after(kept.close);
  const policy = (...args: string[]) => kept.gatehouse(["policy", ...args], { cwd: folder.path });

  describe("test", () => {
    it("tries them, and counts every condition", async () => {
      const { code, stdout, stderr } = await policy("test");
      assert.deepEqual([code, stderr], [0, ""], stdout);
      assert.match(stdout, /^shop\.test\.yaml: 10 passed, 0 failed$/m);
      assert.match(stdout, /^policy set shop: 11 of 11 conditions reached, 8 with every outcome$/m);
    });

    it("shows what differs", async () => {
      const wrong = SUITE.replace('ssn: "***6789"', 'ssn: "***"')
        .replace("denied: [all]", "denied: [people]")
        .replace("expect_refused: true", "masked: []")
        .replace("{ type: dance }, expect: deny", "{ type: dance }, expect: allow");
      await folder.add({ "policies/shop.test.yaml": wrong });
      const { code, stdout } = await policy("test", "--junit", "report.xml");
      assert.equal(code, 1);
      assert.match(stdout, /^shop\.test\.yaml: 6 passed, 4 failed$/m);
      assert.match(stdout, /^ {4}body: \$\[0\]\.ssn: expected "\*\*\*", got "\*\*\*6789"$/m);
      assert.match(stdout, /^ {4}the response is withheld: not_json$/m);
      assert.match(stdout, /^ {4}denied fields: expected "people", which is missing$/m);
      assert.match(stdout, /^ {4}denied fields: got "all", which was not expected$/m);
      assert.match(stdout, /^ {4}the message on line \d+: expected allow, got deny: UNLISTED, no rule$/m);
      assert.match(stdout, /in the response:/, "the explanation stands below");
    });

    it("fails where a stream would have to be tried", async () => {
      await folder.add({ "policies/shop.test.yaml": SUITE.replace("text/html", "text/event-stream") });
      const { code, stdout } = await policy("test");
      assert.equal(code, 1);
      assert.match(stdout, /deciding failed: streams are not supported here/);
    });

    it("asks under the host and from the address that a test names", async () => {
      const { ir } = compilePolicySet([
        {
          name: "a.yaml",
          text: `policies: [{ resource: GET /a, condition: request.host == "a.test" and request.client_ip == "192.0.2.1" }]`,
        },
      ]);
      const { suite } = parseSuite({
        name: "a.test.yaml",
        text: `policy_set: a
tests:
  - { name: a, request: { path: /a, host: a.test, client_ip: 192.0.2.1 }, expect: allow }
  - { name: b, request: { path: /a, host: b.test, client_ip: 192.0.2.1 }, expect: deny, reason: CONDITION_FALSE }
  - { name: c, request: { path: /a, host: a.test }, expect: deny, reason: CONDITION_FALSE }
  - { name: d, graphql: "{ a }", expect: deny, reason: NO_MATCHING_RULE }
  - { name: e, websocket: /nowhere, expect: deny, reason: NO_MATCHING_RULE }
`,
      });
      const { cases } = await runSuite(suite!, createSuiteSubject(ir!));
      assert.deepEqual(
        cases.map(({ name, ok }) => [name, ok]),
        ["a", "b", "c", "d", "e"].map((name) => [name, true]),
      );
    });

    it("has no messages where a request opens no connection", async () => {
      const { ir } = compilePolicySet([{ name: "a.yaml", text: "default: allow" }]);
      const { decide } = createSuiteSubject(ir!);
      const request = { method: "GET", path: "/", headers: [] };
      const { message } = await decide({ request, attributes: {}, env: {} });
      assert.throws(() => message("send", "{}"), /opens no connection/);
    });

    it("notices when a rule is no longer there", async () => {
      const { suite } = parseSuite({ name: "shop.test.yaml", text: SUITE });
      for (const [line, replacement] of [
        ["mask_type: partial", "mask_type: full"],
        ["args.limit <= 10", "true"],
        ["on_deny: null", "on_deny: reject"],
        ["news.topic == user.topic", "true"],
        ["message.room in user.rooms", "true"],
        ["on_deny: close", "on_deny: drop"],
        ["item.of != user.id", "true"],
        ["item.owner != user.id", "true"],
        ["condition: true\n        fields", "condition: false\n        fields"],
      ] as const) {
        assert.ok(SET.includes(line));
        const { ir } = compilePolicySet([{ name: "shop.yaml", text: SET.replace(line, replacement) }]);
        const { cases } = await runSuite(suite!, createSuiteSubject(ir!));
        assert.ok(
          cases.some(({ ok }) => !ok),
          `${line} -> ${replacement}`,
        );
      }
    });
  });

  describe("explain", () => {
    const viewer = ["-s", "shop", "-u", '{"id":"u-1","role":"viewer","rooms":["a"],"topic":"x"}'];
    const explain = (...args: string[]) => policy("explain", ...viewer, ...args);

    it("says what is masked, by which rule, and what is left for the answer", async () => {
      const open = await explain("-r", "GET /people/7");
      assert.match(open.stdout, /^ {2}ssn: partial .* secrets .*\n {4}true {4}user\.role != "hr"/m);
      assert.match(open.stdout, /^ {4}unless this is false: item\.owner != "u-1"$/m);
      const sample = '{"ssn":"123-45-6789","phone":1}';
      const { code, stdout } = await explain("-r", "GET /people/7", "--response", sample);
      assert.equal(code, 0);
      assert.match(stdout, /\n {2}\$\.ssn {2}partial, secrets\n {2}\$\.phone {2}full, secrets\n\n/);
      assert.match(stdout, /\{"ssn":"\*\*\*6789","phone":"\*\*\*"\}\n$/);
    });

    it("reads a sample from a file, with its status and headers", async () => {
      await folder.add({ "sample.json": '{"ssn":"1"}' });
      const more = ["-r", "GET /people/7", "--response", "sample.json"];
      assert.match((await explain(...more)).stdout, /\{"ssn":"\*\*\*"\}\n$/);
      const partial = await explain(...more, "--response-status", "206");
      assert.match(partial.stdout, /the response is withheld \(502\): partial/);
      const page = await explain(...more, "--response-header", "Content-Type: text/html");
      assert.match(page.stdout, /the response is withheld \(502\): not_json/);
      const stream = await explain(...more, "--response-header", "content-type: text/event-stream");
      assert.equal(stream.code, 2);
      assert.match(stream.stderr, /streams are not supported here/);
    });

    it("says which fields of an operation are denied, and why", async () => {
      const { stdout } = await explain("--graphql", "{ people(limit: 99) { id } }", "--operation-name", "");
      assert.match(stdout, /^DENY \(403\) GRAPHQL_DENIED/);
      assert.match(stdout, /^ {2}people: ACCESS_DENIED/m);
      assert.match(stdout, /args\.limit is 99/);
      const named = [
        "--graphql",
        "query A($n: Int) { people(limit: $n) { salary } }",
        "--operation-name",
        "A",
      ];
      const nulled = await explain(...named, "--variables", '{"n":1}', "--endpoint", "/graphql");
      assert.match(nulled.stdout, /^ALLOW GRAPHQL_ALLOWED/);
      assert.match(nulled.stdout, /people\.salary is returned as null/);
      assert.match((await explain(...named, "--endpoint", "/other")).stdout, /NO_MATCHING_RULE/);
    });

    it("says whether messages pass, in their order, and why", async () => {
      const { stdout } = await explain(
        ...["--websocket", "/ws", "--message", '{"type":"join","room":"a"}'],
        ...["--receive", '{"type":"said","email":"x"}', "--message", '{"type":"join","room":"z"}'],
      );
      assert.match(stdout, /^ALLOW CONDITION_TRUE/);
      assert.match(stdout, /^connection WebSocket \/ws /m);
      const verdicts = [...stdout.matchAll(/^the (client|server)'s message is (NOT )?delivered/gm)];
      assert.deepEqual(
        verdicts.map(([, side, not]) => `${side} ${not ?? ""}`.trim()),
        ["client", "server", "client NOT"],
      );
      assert.match(stdout, /message\.room is "z"/);
      assert.match(stdout, /\n\{"type":"said"\}\n/);
      const denied = await explain("--websocket", "/nowhere", "--message", "{}");
      assert.match(denied.stdout, /^DENY \(403\) NO_MATCHING_RULE/);
    });

    it("gives all of it as JSON", async () => {
      const json = async (...args: string[]) =>
        JSON.parse((await explain("--json", ...args)).stdout) as {
          fields: { field: string; left?: string }[];
          answer: object;
          operation: { verdict: string };
          messages: object[];
        };
      const answer = await json("-r", "GET /people/7", "--response", '{"ssn":"1","phone":1}');
      assert.deepEqual(
        answer.fields.map(({ field, left }) => [field, left]),
        [
          ["ssn", undefined],
          ["phone", 'item.owner != "u-1"'],
        ],
      );
      assert.deepEqual(Object.keys(answer.answer), ["ok", "text", "count", "paths", "fields"]);
      const denied = await json("--graphql", "{ people { id } }");
      assert.equal(denied.operation.verdict, "denied");
      const socket = await json("--websocket", "/ws", "--message", '{"type":"join","room":"a"}');
      assert.deepEqual(Object.keys(socket.messages[0]!), [
        ...["direction", "delivered", "code", "rule", "condition", "fields"],
      ]);
    });
  });
});
