import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { startAnsweringUpstream, type AnsweringUpstream } from "../support/answering-upstream.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";

const SECRET = "123-45-6789";

const POLICIES = `
version: v7
policies:
  - { resource: "GET /api/**", condition: exists(user.id) }
  - { resource: "POST /api/reports", condition: exists(user.id) }
web_policies:
  - { path: "/pages/*", condition: true }
response_filters:
  - endpoint: /api/customers/{id}
    filter_rules:
      - { field: ssn, condition: user.role != "admin", action: mask, replacement: "[ssn]" }
      - { field: notes, condition: not user.permissions.includes("notes:read"), action: remove }
  - endpoint: POST /api/reports
    filter_rules:
      - { field: total, condition: request.body.detail != "full", action: remove }
response_masks:
  - api_pattern: /api/**
    fields:
      - { name: card, condition: item.owner != user.id, mask_type: partial }
`;

describe("end to end: responses", function () {
  this.timeout(60_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    gateway = await startGateway({ backend: upstream.url, issuer, policies: { "default.yaml": POLICIES } });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  function answer(body: unknown, headers: Record<string, string> = {}) {
    upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    };
  }

  async function ask(path: string, claims: Record<string, unknown> | undefined, init: RequestInit = {}) {
    const authorization = claims && `Bearer ${await issuer.token(claims)}`;
    const headers = { ...(init.headers as Record<string, string>), ...(authorization && { authorization }) };
    return fetch(`${gateway.url}${path}`, { ...init, headers });
  }

  const CUSTOMER = {
    id: "c-1",
    ssn: SECRET,
    notes: "secret",
    cards: [{ owner: "u-1", card: "4111" + "2222" }, { card: "55556666" }],
  };

  it("are changed by what the caller is", async () => {
    answer(CUSTOMER);
    const viewer = await ask("/api/customers/c-1", { role: "viewer", permissions: [] });
    assert.deepEqual(await viewer.json(), {
      id: "c-1",
      ssn: "[ssn]",
      cards: [{ owner: "u-1", card: "41112222" }, { card: "***6666" }],
    });
    const admin = await ask("/api/customers/c-1", { role: "admin", permissions: ["notes:read"] });
    assert.deepEqual(await admin.json(), { ...CUSTOMER, cards: [CUSTOMER.cards[0], { card: "***6666" }] });
    // nothing is known of the role: unknown masks
    const unknown = await ask("/api/customers/c-1", {});
    assert.equal(((await unknown.json()) as typeof CUSTOMER).ssn, "[ssn]");
  });

  it("are asked for in a form that can be read", async () => {
    answer(CUSTOMER);
    await ask(
      "/api/customers/c-1",
      { role: "viewer" },
      { headers: { "accept-encoding": "gzip", range: "bytes=0-5", "if-range": "x" } },
    );
    const touched = upstream.seen.at(-1);
    assert.deepEqual(
      ["accept-encoding", "range", "if-range"].map((name) => touched?.headers[name]),
      [undefined, undefined, undefined],
    );
    const page = gzipSync("<b>hello</b>");
    answer(page, { "content-type": "text/html", "content-encoding": "gzip", etag: '"1"' });
    const untouched = await ask("/pages/x", undefined, {
      headers: { "accept-encoding": "gzip", range: "bytes=0-5" },
    });
    assert.match(String(upstream.seen.at(-1)?.headers["accept-encoding"]), /gzip/);
    assert.equal(upstream.seen.at(-1)?.headers["range"], "bytes=0-5");
    assert.equal(untouched.headers.get("etag"), '"1"');
    assert.equal(await untouched.text(), "<b>hello</b>");
  });

  it("may depend on the request's body", async () => {
    answer({ total: 7, rows: [] });
    const send = (detail: string) =>
      ask(
        "/api/reports",
        { role: "viewer" },
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ detail }),
        },
      );
    assert.deepEqual(await (await send("full")).json(), { total: 7, rows: [] });
    assert.deepEqual(await (await send("brief")).json(), { rows: [] });
  });

  it("leave a record of what was changed, which names no value", async () => {
    answer(CUSTOMER);
    const response = await ask("/api/customers/c-7", { role: "viewer", sub: "u-9" });
    await response.text();
    const decision = await eventually("the decision's record", async () =>
      (await gateway.audit()).find((line) => line.resource === "/api/customers/c-7"),
    );
    const outcome = await eventually("the answer's record", async () =>
      (await gateway.audit()).find(
        (line) => line["event"] === "response" && line["decision_id"] === decision["decision_id"],
      ),
    );
    assert.equal(decision.decision, "ALLOW");
    assert.equal(outcome["response_code"], 200);
    assert.equal(outcome["result"], "masked");
    assert.deepEqual((outcome["masked_paths"] as string[]).toSorted(), [
      "$.cards[*].card",
      "$.notes",
      "$.ssn",
    ]);
    assert.ok(!JSON.stringify(await gateway.audit()).includes(SECRET));
  });

  it("that cannot be read are refused, with a record", async () => {
    answer(`<b>${SECRET}</b>`, { "content-type": "text/html" });
    const response = await ask("/api/customers/c-8", { role: "viewer" });
    assert.equal(response.status, 502);
    assert.ok(!(await response.text()).includes(SECRET));
    const outcome = await eventually("the answer's record", async () =>
      (await gateway.audit()).find((line) => line["event"] === "response" && line["result"] === "refused"),
    );
    assert.deepEqual([outcome["reason"], outcome["response_code"]], ["not_json", 502]);
  });

  it("of other paths spelled like a rule's are changed, too", async () => {
    answer(CUSTOMER);
    const response = await ask("/api/CUSTOMERS/c-1", { role: "viewer" });
    assert.ok(!(await response.text()).includes(SECRET));
  });

  it("never come as they are once a set with its first response rule is in force", async () => {
    const open = 'policies:\n  - { resource: "GET /api/**", condition: "true" }\n';
    const masking = `${open}response_filters:\n  - { endpoint: "/api/**", filter_rules: [{ field: ssn, condition: "true", action: mask }] }\n`;
    const other = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": open },
      config: { gateway: { listen_port: 0, backend: upstream.url, cluster: { nodes: 1 } } },
    });
    try {
      answer({ ssn: SECRET });
      const seen: string[] = [];
      await other.writePolicies({ "default.yaml": masking });
      await eventually("masked answers", async () => {
        const response = await fetch(`${other.url}/api/x`);
        const text = await response.text();
        seen.push(text.includes(SECRET) ? "original" : response.status === 200 ? "masked" : "refused");
        return seen.filter((one) => one === "masked").length > 20;
      });
      const change = seen.findIndex((one) => one !== "original");
      assert.deepEqual(
        seen.slice(change).filter((one) => one === "original"),
        [],
        seen.join(),
      );
    } finally {
      await other.stop();
    }
  });
});
