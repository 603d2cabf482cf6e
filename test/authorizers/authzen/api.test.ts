import assert from "node:assert/strict";
import { startAuthorizers } from "../../../src/authorizers/server.ts";
import { silentLog, snapshotOf, useIssuer } from "../../decision/support.ts";
import { POLICIES, subject, useAuthzen } from "./support/authzen.ts";

const documents = (...ids: string[]) => ids.map((id) => ({ resource: { type: "document", id } }));

describe("authorizers: the paths of the Authorization API", () => {
  const open = useAuthzen(useIssuer());

  it("several evaluations: all, or up to the first that settles it; each has its record", async () => {
    const body = (semantic?: string) => ({
      subject,
      action: { name: "read" },
      ...(semantic !== undefined && { options: { evaluations_semantic: semantic } }),
      evaluations: documents("1", "2", "3"),
    });
    for (const [semantic, decisions] of [
      [undefined, [true, false, true]],
      ["execute_all", [true, false, true]],
      ["deny_on_first_deny", [true, false]],
      ["permit_on_first_permit", [true]],
    ] as const) {
      const { ask, recorded } = open();
      const { status, json } = await ask("/access/v1/evaluations", body(semantic));
      assert.equal(status, 200);
      const { evaluations, ...others } = json as { evaluations: { decision: boolean }[] };
      assert.deepEqual(others, {});
      assert.deepEqual(
        evaluations.map(({ decision }) => decision),
        decisions,
        semantic,
      );
      assert.equal((await recorded()).length, decisions.length);
    }
  });

  it("several evaluations: defaults are replaced as a whole, and a bad one is a denial in its place", async () => {
    const { ask } = open();
    const { json } = await ask("/access/v1/evaluations", {
      subject: { ...subject, properties: { role: "editor" } },
      action: { name: "edit" },
      evaluations: [
        ...documents("1"),
        { ...documents("1")[0], subject },
        { ...documents("2")[0], action: { name: "read" } },
        {},
        { resource: { type: "document" } },
      ],
    });
    const { evaluations } = json as { evaluations: { decision: boolean; context?: object }[] };
    assert.deepEqual(
      evaluations.map(({ decision }) => decision),
      [true, false, false, false, false],
    );
    assert.match(JSON.stringify(evaluations[3]?.context), /400.*`resource` must be an object/);
    assert.match(JSON.stringify(evaluations[4]?.context), /400.*`resource.id` must be a text/);
  });

  it("without evaluations it is a single one", async () => {
    const { ask } = open();
    const single = { subject, action: { name: "read" }, ...documents("1")[0] };
    for (const body of [single, { ...single, evaluations: [] }])
      assert.deepEqual((await ask("/access/v1/evaluations", body)).json, { decision: true });
    assert.deepEqual((await ask("/access/v1/evaluation", single)).json, { decision: true });
  });

  it("answers 400 to what is no request, with what is wrong, and decides nothing", async () => {
    const single = { subject, action: { name: "read" }, ...documents("1")[0] };
    for (const [body, problem, path = "evaluation"] of [
      ["", /not valid JSON/],
      ["[]", /body` must be an object|the body` must/],
      ['{"subject":{},"subject":{}}', /duplicate member/],
      [{ ...single, subject: "alice" }, /`subject` must be an object/],
      [{ ...single, subject: { id: "a" } }, /`subject.type` must be a text/],
      [{ ...single, subject: { type: "user" } }, /`subject.id` must be a text/],
      [{ ...single, subject: { ...subject, properties: [] } }, /`subject.properties` must be an object/],
      [{ ...single, action: {} }, /`action.name` must be a text/],
      [{ ...single, action: { name: 1 } }, /`action.name` must be a text/],
      [{ ...single, resource: { type: "route", id: "open" } }, /must be a path/],
      [{ ...single, resource: { type: "route", id: "/open?x=1" } }, /must be a path/],
      [{ ...single, context: 1 }, /`context` must be an object/],
      [{ ...single, context: { headers: { a: 1 } } }, /must be made of texts/],
      [{ ...single, subject: { ...subject, properties: { ip_address: "x" } } }, /must be an IP address/],
      [{ ...single, evaluations: {} }, /`evaluations` must be a list/, "evaluations"],
      [
        { ...single, evaluations: [{}], options: { evaluations_semantic: "any" } },
        /must be one of execute_all/,
        "evaluations",
      ],
      [{ ...single, evaluations: Array.from({ length: 101 }, () => ({})) }, /more than 100/, "evaluations"],
    ] as const) {
      const { ask, recorded } = open();
      const answer = await ask(`/access/v1/${path}`, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(answer.body, problem);
      assert.deepEqual(await recorded(), []);
    }
    const { ask } = open();
    for (const headers of [
      [],
      [["content-type", "text/plain"]],
      [["content-type", "application/jsonx"]],
    ] as const)
      assert.equal((await ask("/access/v1/evaluation", single, { headers })).status, 400);
  });

  it("repeats the caller's request id, also with an error", async () => {
    const { ask } = open();
    const headers = [
      ["content-type", "application/json; charset=utf-8"],
      ["x-request-id", "bfe9-1"],
    ] as const;
    for (const body of [{ subject, action: { name: "read" }, ...documents("1")[0] }, {}]) {
      const answer = await ask("/access/v1/evaluation", body, { headers });
      assert.ok(answer.headers.some(([name, value]) => name === "x-request-id" && value === "bfe9-1"));
    }
  });

  it("finds actions: exactly those that an evaluation permits, and records nothing", async () => {
    const { ask, recorded, tried } = open();
    const resource = { type: "document", id: "1" };
    const found = await ask("/access/v1/search/action", { subject, resource });
    // a rule for GET is one for HEAD, too
    const names = ["read", "GET", "HEAD"];
    const results = names.map((name) => ({ name }));
    // the role that edits is not said
    const en = "2 of this page are left out, because what decides is neither said nor listed";
    const context = { incomplete: true, reason_admin: { en } };
    assert.deepEqual(found.json, { results, context, page: { next_token: "" } });
    const viewer = { ...subject, properties: { role: "viewer" } };
    const all = await ask("/access/v1/search/action", { subject: viewer, resource });
    assert.deepEqual(all.json, { results, page: { next_token: "" } });
    // as an evaluation would, but never as one
    assert.equal(tried[0], "GET /documents/1");
    const editor = { ...subject, properties: { role: "editor" } };
    const more = await ask("/access/v1/search/action", { subject: editor, resource });
    assert.deepEqual((more.json as { results: object[] }).results, [
      { name: "read" },
      { name: "edit" },
      { name: "GET" },
      { name: "HEAD" },
      { name: "PUT" },
    ]);
    const none = await ask("/access/v1/search/action", { subject, resource: { type: "planet", id: "1" } });
    assert.deepEqual((none.json as { results: object[] }).results, []);
    const forged = { subject, resource, context: { headers: { "x-user-id": "u" } } };
    assert.deepEqual(
      ((await ask("/access/v1/search/action", forged)).json as { results: object[] }).results,
      [],
    );
    // an application must not get it from a client, and an evaluation is denied for it
    for (const name of ["x-real-ip", "true-client-ip", "x-user-token"]) {
      const kept = { subject, resource, context: { headers: { [name]: "10.0.0.1" } } };
      const { json } = await ask("/access/v1/search/action", kept);
      assert.deepEqual((json as { results: object[] }).results, [], name);
    }
    assert.deepEqual(await recorded(), []);
  });

  it("finds resources: paths without parameters, and says that there are others", async () => {
    const { ask } = open();
    const found = await ask("/access/v1/search/resource", {
      subject,
      action: { name: "read" },
      resource: { type: "route" },
    });
    const { results, page, context } = found.json as {
      results: { type: string; id: string }[];
      page: object;
      context: { incomplete: boolean };
    };
    assert.deepEqual(
      results.map(({ id }) => id),
      ["/", "/open", "/caf%C3%A9%20x"],
    );
    assert.deepEqual(page, { next_token: "" });
    assert.equal(context.incomplete, true);
    for (const { type, id } of results) {
      const question = { subject, action: { name: "read" }, resource: { type, id } };
      assert.deepEqual((await ask("/access/v1/evaluation", question)).json, { decision: true }, id);
    }
    const other = { subject, action: { name: "read" }, resource: { type: "document" } };
    assert.equal((await ask("/access/v1/search/resource", other)).status, 400);
  });

  it("finds resources: says how many are left out because something is not said", async () => {
    const { ask } = open(
      snapshotOf(`
policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /drafts", condition: user.role == "editor" }
`),
    );
    const search = async (properties: object) => {
      const asked = {
        subject: { ...subject, properties },
        action: { name: "read" },
        resource: { type: "route" },
      };
      return (await ask("/access/v1/search/resource", asked)).json as unknown;
    };
    const route = (id: string) => ({ type: "route", id });
    const en = "1 of this page are left out, because what decides is neither said nor listed";
    assert.deepEqual(await search({}), {
      page: { next_token: "" },
      context: { incomplete: true, reason_admin: { en } },
      results: [route("/open")],
    });
    const page = { next_token: "" };
    assert.deepEqual(await search({ role: "viewer" }), { page, results: [route("/open")] });
    assert.deepEqual(await search({ role: "editor" }), { page, results: [route("/open"), route("/drafts")] });
  });

  it("publishes where it is, if the operator says where that is", async () => {
    const { json } = await open().ask("/.well-known/authzen-configuration", "");
    assert.deepEqual(json, {
      policy_decision_point: "https://pdp.example.com",
      access_evaluation_endpoint: "https://pdp.example.com/access/v1/evaluation",
      access_evaluations_endpoint: "https://pdp.example.com/access/v1/evaluations",
      search_resource_endpoint: "https://pdp.example.com/access/v1/search/resource",
      search_action_endpoint: "https://pdp.example.com/access/v1/search/action",
    });
    assert.equal(
      (await open(POLICIES, { url: undefined }).ask("/.well-known/authzen-configuration", "")).status,
      404,
    );
  });

  it("over HTTP: for callers that are listed, and for nobody else", async () => {
    const { apis, recorded } = open();
    const body = JSON.stringify({ subject, action: { name: "read" }, ...documents("1")[0] });
    for (const [callers, status] of [
      [["127.0.0.1"], 200],
      [["10.0.0.0/8"], 403],
    ] as const) {
      const server = await startAuthorizers({
        listen: { host: "127.0.0.1", port: 0 },
        callers,
        doors: new Map(),
        apis,
        decisionTimeout: 5_000,
        log: { ...silentLog, info: () => undefined, warn: () => undefined },
      });
      const base = `http://127.0.0.1:${server.port}`;
      const headers = { "content-type": "application/json", "x-request-id": "r-1" };
      const answer = await fetch(`${base}/access/v1/evaluation`, { method: "POST", headers, body });
      assert.equal(answer.status, status);
      if (status === 200) {
        assert.equal(answer.headers.get("x-request-id"), "r-1");
        assert.deepEqual(await answer.json(), { decision: true });
        const metadata = await fetch(`${base}/.well-known/authzen-configuration`);
        assert.equal(metadata.status, 200);
      }
      await server.close(0);
    }
    assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE"]);
  });
});
