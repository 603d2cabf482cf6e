import assert from "node:assert/strict";
import { DOOR_ABILITIES } from "../../src/authorizers/index.ts";
import { nginx } from "../../src/authorizers/nginx.ts";
import { findUnenforceable } from "../../src/decision/point/index.ts";
import { compilePolicySet } from "../../src/policy/index.ts";
import { createSnapshot } from "../../src/decision/policies/snapshot.ts";
import { HANDSHAKE, PREFLIGHT } from "../decision/point/support/door-fixtures.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { bearer, useIssuer } from "../decision/support.ts";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const FULL = `policy_set: shop
preflight: allow
policies:
  - { resource: GET /open, condition: "true" }
  - { resource: POST /form, condition: request.body.a == 1 }
  - { resource: "* /masked", condition: "true" }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: exists(user.id), action: remove }]
graphql:
  paths: [/graphql]
graphql_policies:
  - { query: orders, condition: "true" }
websocket_policies:
  - connection: { path: /chat, condition: "true" }
    message_types: [{ type: say, condition: "true" }]
`;
/** Of every kind of rule that such a proxy can enforce. */
const PLAIN = `policy_set: plain
policies:
  - { resource: GET /open, condition: "true" }
  - { resource: GET /me, condition: exists(user.id) }
  - { resource: GET /q, condition: request.query.a == "1" }
  - { resource: GET /h, condition: request.headers.a != "1" }
  - { resource: "* /any/**", condition: "true" }
web_policies:
  - { path: /page, condition: "true" }
`;

const WHERE: Readonly<Record<string, string>> = {
  aws: "behind API Gateway",
  authzen: "for callers of the Authorization API",
};

describe("cli: policy validate --door", () => {
  const kept = keptCommandLine();
  let folder: Folder;
  beforeEach(async () => {
    folder = await folderOf({ "policies/shop.yaml": FULL });
  });
  afterEach(() => folder.remove());
  after(kept.close);
  const validate = (...args: string[]) =>
    kept.gatehouse(["policy", "validate", ...args], { cwd: folder.path });

  it("lists what the proxy cannot enforce, with place and exit code 1, and nothing without a proxy", async () => {
    for (const door of Object.keys(DOOR_ABILITIES)) {
      const { code, stdout } = await validate("--door", door);
      assert.equal(code, 1, door);
      for (const [place, text] of [
        ["2:1", "answers to CORS preflights"],
        ["5:5", "bodies of requests are not known"],
        ["8:5", "responses cannot be masked"],
        ["13:5", "bodies of requests are not known"],
        ["15:17", "WebSocket connections cannot be closed"],
        ["16:", "WebSocket connections cannot be closed"],
      ] as const)
        assert.match(
          stdout,
          new RegExp(
            `^shop\\.yaml:${place}\\d*: error: ${text}.* ${WHERE[door] ?? `behind ${door}`} \\[not-enforceable\\]$`,
            "m",
          ),
        );
      assert.equal(stdout.match(/\[not-enforceable\]/g)?.length, 6);
    }
    assert.equal((await validate()).code, 0);
  });

  it("is content with a set that it can enforce", async () => {
    await folder.add({ "policies/shop.yaml": PLAIN });
    const { code, stdout } = await validate("--door", "nginx");
    assert.equal(code, 0, stdout);
  });

  it("does not know other doors", async () => {
    const { code, stderr } = await validate("--door", "apache");
    assert.notEqual(code, 0);
    assert.match(stderr, /Allowed choices are .*nginx/);
  });
});

describe("cli: policy validate --door and the decision point agree", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const irOf = (text: string) => {
    const { ir } = compilePolicySet([{ name: "set.yaml", text }], { name: "set" });
    return ir ?? assert.fail("the set has errors");
  };
  const found = (text: string) =>
    findUnenforceable(irOf(text), DOOR_ABILITIES["nginx"] ?? assert.fail(), {
      ...{ file: "set.yaml", line: 1, column: 1 },
    }).length;
  const message = (line: string, headers: readonly (readonly [string, string])[]) => {
    const value = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? "";
    return {
      ...{ method: "GET", target: "/nginx" },
      headers: [
        ...headers.filter(([name]) => name !== "connection" && name !== "upgrade"),
        ["x-original-request", `${line} HTTP/1.1`],
        ["x-original-host", "app.test"],
        ["x-original-scheme", "https"],
        ["x-original-address", "192.0.2.7"],
        ["x-original-connection", `=${value("connection")}`],
        ["x-original-upgrade", `=${value("upgrade")}`],
      ] as const,
    };
  };
  const reasons = async (
    text: string,
    requests: readonly (readonly [line: string, headers?: readonly (readonly [string, string])[]])[],
  ) => {
    const { ask, recorded } = serve(nginx, { policies: createSnapshot(irOf(text), { caseSensitive: true }) });
    for (const [line, headers = []] of requests) await ask(message(line, headers));
    return recorded();
  };

  it("a request that needs a reported rule is not permitted", async () => {
    const graphql = "/graphql?query={orders}";
    const only = (key: string) => {
      const parts = FULL.split(/^(?=[a-z_]+:)/m);
      return parts.filter((part) => part.startsWith(key) || part.startsWith("policy_set")).join("");
    };
    const token = bearer(await idp.token({ sub: "u-1" }));
    for (const [text, line, headers, reason] of [
      [`preflight: allow\n${only("policies")}`, "OPTIONS /open", PREFLIGHT.slice(0, 2), "BODY_UNAVAILABLE"],
      [only("policies"), "POST /form", [], "BODY_UNAVAILABLE"],
      [
        only("policies") + only("response_filters").replace(/^policy_set.*\n/m, ""),
        "GET /masked",
        [token],
        "PLAN_NOT_ENFORCEABLE",
      ],
      [only("websocket_policies"), "GET /chat", HANDSHAKE, "PLAN_NOT_ENFORCEABLE"],
      [only("graphql"), "POST /graphql", [["content-type", "application/json"]], undefined],
      [only("graphql"), `GET ${graphql}`, [], undefined],
    ] as const) {
      assert.ok(found(text) > 0, line);
      const [recorded = ""] = await reasons(text, [[line, headers]]);
      if (reason === undefined) assert.match(recorded, /^DENY /, line);
      else assert.equal(recorded, `DENY ${reason}`, line);
    }
  });

  it("no request is denied with PLAN_NOT_ENFORCEABLE by a set of which nothing is reported", async () => {
    const token = bearer(await idp.token({ sub: "u-1" }));
    assert.equal(found(PLAIN), 0);
    const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
    const paths = ["/open", "/me", "/q?a=1", "/h", "/any/x", "/page", "/graphql?query={a}", "/none"];
    const headers = [[], [token], HANDSHAKE, [token, ...HANDSHAKE], PREFLIGHT.slice(0, 2)];
    const requests = methods.flatMap((method) =>
      paths.flatMap((path) => headers.map((sent) => [`${method} ${path}`, sent] as const)),
    );
    const recorded = await reasons(PLAIN, requests.slice(0, 95));
    const rest = await reasons(PLAIN, requests.slice(95, 190));
    const last = await reasons(PLAIN, requests.slice(190));
    const all = [...recorded, ...rest, ...last];
    assert.equal(all.length, requests.length);
    assert.ok(all.includes("ALLOW CONDITION_TRUE"));
    assert.deepEqual(
      all.filter((one) => one.includes("PLAN_NOT_ENFORCEABLE")),
      [],
    );
  });
});
