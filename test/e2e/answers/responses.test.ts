import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";

const SECRET = "123-45-6789";

const POLICIES = `
version: v7
policies:
  - { resource: "GET /api/**", condition: exists(user.id) }
  - { resource: "POST /api/reports", condition: exists(user.id) }
  - { resource: "PUT /api/**", condition: exists(user.id) }
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

describe("end to end: responses", () => {
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

  describe("cannot be guessed by headers of the request", () => {
    /** Each is one by which an application could answer differently for the original's sake. */
    const GUESSES: readonly (readonly [name: string, value: string])[] = [
      ["If-None-Match", '"a"'],
      ["If-None-Match", 'W/"b", "c"'],
      ["IF-MATCH", "*"],
      ["If.None.Match", '"a"'],
      ["if-Modified-Since", "Sun, 22 Nov 2026 00:00:00 GMT"],
      ["If-Unmodified-Since", "Sun, 22 Nov 2026 00:00:00 GMT"],
      ["If-Range", '"a"'],
      ["If", '(["a"])'],
      ["x-ms-if-tags", "ssn = '1'"],
      ["If-Schedule-Tag-Match", '"a"'],
      ["Range", "bytes=0-5"],
      ["rANGE", "bytes=6-"],
      ["Request-Range", "bytes=0-5"],
      ["X-Range", "bytes=0-5"],
      ["X-Ms-Range", "bytes=0-5"],
      ["Unless-Modified-Since", "Sun, 22 Nov 2026 00:00:00 GMT"],
      ["A-IM", "diffe"],
      ["Accept-Encoding", "gzip"],
      ["TE", "trailers"],
      ["Want-Digest", "sha-256"],
      ["Want-Content-Digest", "sha-256=1"],
      ["Want-Repr-Digest", "sha-256=1"],
      ["Accept-Signature", 'sig=("content-digest")'],
    ];
    const names = GUESSES.map(([name]) => name.toLowerCase());
    const arrived = () =>
      Object.keys(upstream.seen.at(-1)?.headers ?? {}).filter((name) => names.includes(name));
    const lines = (guesses: typeof GUESSES) => guesses.map(([name, value]) => `${name}: ${value}`);
    const bearer = async () => `Bearer ${await issuer.token({ role: "viewer" })}`;
    const rawly = async (method: string, guesses: typeof GUESSES, path = "/api/customers/c-1") =>
      sendRaw(
        gateway.port,
        rawGet(path, [`Authorization: ${await bearer()}`, "X-What-If: 1", ...lines(guesses)], method),
      );

    it("over HTTP/1.1", async () => {
      answer(CUSTOMER);
      for (const method of ["GET", "HEAD"]) {
        assert.equal((await rawly(method, GUESSES)).status, 200);
        assert.deepEqual(arrived(), [], method);
        assert.equal(upstream.seen.at(-1)?.headers["x-what-if"], "1", "others do arrive");
      }
    });

    it("over HTTP/2", async () => {
      answer(CUSTOMER);
      const session = connect(gateway.url);
      const headers: Record<string, string | string[]> = { ":path": "/api/customers/c-1" };
      for (const [name, value] of GUESSES) {
        const before = headers[name.toLowerCase()];
        headers[name.toLowerCase()] =
          before === undefined || name === "TE" ? value : `${String(before)}, ${value}`;
      }
      const stream = session.request({ ...headers, authorization: await bearer() });
      const [received] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      await once(stream, "close");
      session.close();
      assert.equal(received[":status"], 200);
      assert.deepEqual(arrived(), []);
    });

    it("which reach the application where no response rule applies", async () => {
      const page = gzipSync("<b>hello</b>");
      answer(page, { "content-type": "text/html", "content-encoding": "gzip", etag: '"1"' });
      const { status, headers } = await rawly("GET", GUESSES, "/pages/x");
      assert.deepEqual([status, headers["etag"]], [200, '"1"']);
      assert.deepEqual(new Set(arrived()), new Set(names));
    });

    it("and a change is never made without its precondition", async () => {
      answer(CUSTOMER);
      const seen = upstream.seen.length;
      for (const name of [
        "If-Match",
        "If-None-Match",
        "If-Unmodified-Since",
        "If",
        "x-ms-if-tags",
        "If.Match",
      ]) {
        const { status, body } = await rawly("PUT", [[name, "*"]]);
        assert.deepEqual([status, body.includes("PRECONDITION_NOT_SUPPORTED")], [412, true], name);
      }
      assert.equal(upstream.seen.length, seen);
      assert.equal(
        (
          await rawly("PUT", [
            ["If-Modified-Since", "x"],
            ["Range", "bytes=0-5"],
            ["If-Range", "x"],
          ])
        ).status,
        200,
      );
      assert.deepEqual(arrived(), []);
    });
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

  it("of a stream are delivered, except what cannot be evaluated for certain, which is counted", async () => {
    const stream = `: ${SECRET}\ndata: {"ssn":"${SECRET}"}\n\nssn:${SECRET}\n\nid: ${SECRET} x\ndata: 1\n\ndata: ${SECRET}`;
    answer(stream, { "content-type": "text/event-stream" });
    const response = await ask("/api/customers/c-9", { role: "viewer" });
    assert.equal(await response.text(), '\ndata: {"ssn":"[ssn]"}\n\n');
    const outcome = await eventually("the answer's record", async () =>
      (await gateway.audit()).find(
        (line) => line["event"] === "response" && Number(line["documents_dropped"]) > 0,
      ),
    );
    assert.deepEqual([outcome["result"], outcome["documents_dropped"]], ["masked", 3]);
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
