import assert from "node:assert/strict";
import {
  deciderOf,
  accessOf,
  bearer,
  outcome,
  snapshotOf,
  useIssuer,
  type RequestParts,
} from "../support.ts";

const JSON_TYPE = [["content-type", "application/json"]] as const;
const TRUE = "ALLOW CONDITION_TRUE";
const FALSE = "DENY CONDITION_FALSE";
const NEEDED = "DENY BODY_NEEDED";
const UNAVAILABLE = "DENY BODY_UNAVAILABLE";
const QUERY = "/graphql?query={me}";

describe("decision: bodies", () => {
  const idp = useIssuer();

  const decide = async (text: string, parts: RequestParts) =>
    outcome(await deciderOf(snapshotOf(text), { verifier: idp.verifier })(accessOf(parts)));

  /** How a rule for every method decides: when asked without the body, with one, and where none was handed over. */
  const rules: readonly (readonly [
    condition: string,
    outcomes: {
      readonly first: string;
      readonly unavailable: string;
      readonly none: string;
      readonly admin: string;
    },
    role?: string,
  ])[] = [
    ["not exists(request.body.admin)", { first: NEEDED, unavailable: UNAVAILABLE, none: TRUE, admin: FALSE }],
    ["exists(request.body.admin)", { first: NEEDED, unavailable: UNAVAILABLE, none: FALSE, admin: TRUE }],
    [
      'request.method != "TRACE" or not exists(request.body.admin)',
      { first: NEEDED, unavailable: TRUE, none: TRUE, admin: TRUE },
    ],
    [
      'request.method == "TRACE" and not exists(request.body.admin)',
      { first: NEEDED, unavailable: FALSE, none: FALSE, admin: FALSE },
    ],
    // what the body cannot change is decided at once, and nothing is held back for it
    [
      'user.role == "editor" and not exists(request.body.admin)',
      { first: FALSE, unavailable: FALSE, none: FALSE, admin: FALSE },
      "viewer",
    ],
    [
      'user.role == "editor" and not exists(request.body.admin)',
      {
        first: "DENY IDENTITY_REQUIRED",
        unavailable: "DENY IDENTITY_REQUIRED",
        none: "DENY IDENTITY_REQUIRED",
        admin: "DENY IDENTITY_REQUIRED",
      },
    ],
    [
      'user.level > 3 and not (user.role == "x" or exists(request.body.admin))',
      {
        first: "DENY CONDITION_UNKNOWN",
        unavailable: UNAVAILABLE,
        none: "DENY CONDITION_UNKNOWN",
        admin: FALSE,
      },
      "viewer",
    ],
    [
      'user.role == "viewer" or exists(request.body.admin)',
      { first: NEEDED, unavailable: TRUE, none: TRUE, admin: TRUE },
      "viewer",
    ],
    [
      'user.role == "editor" or exists(request.body.admin)',
      { first: NEEDED, unavailable: "DENY IDENTITY_REQUIRED", none: "DENY IDENTITY_REQUIRED", admin: TRUE },
    ],
  ];
  for (const [condition, expected, role] of rules) {
    it(`${condition}${role === undefined ? "" : ` for a ${role}`}`, async () => {
      const set = `policies:\n  - { resource: "* /x", condition: ${JSON.stringify(condition)} }\n`;
      const token = role === undefined ? [] : [bearer(await idp.token({ role }))];
      const headers = [...JSON_TYPE, ...token];
      const at = (parts: RequestParts) => decide(set, { method: "POST", headers, ...parts });
      assert.equal(await at({ body: null, bodies: "on_request" }), expected.first, "first");
      assert.equal(await at({ body: null }), expected.unavailable, "unavailable");
      assert.equal(await at({ body: null, bodies: "handed_over" }), expected.unavailable, "of an upgrade");
      assert.equal(await at({ body: "", bodies: "handed_over" }), expected.none, "none");
      assert.equal(await at({ body: '{"admin":true}', bodies: "handed_over" }), expected.admin, "admin");
      assert.equal(
        await at({ method: "GET", body: '{"admin":true}', bodies: "handed_over" }),
        expected.admin,
        "GET",
      );
    });
  }

  it("are cut short where they are larger than the door hands over", async () => {
    const set = 'policies:\n  - { resource: "POST /x", condition: not exists(request.body.admin) }\n';
    const parts = { method: "POST", headers: JSON_TYPE, body: '{"a":', complete: false };
    assert.equal(await decide(set, { ...parts, bodies: "handed_over" }), "DENY BODY_TOO_LARGE");
    assert.equal(await decide(set, parts), "DENY AMBIGUOUS_BODY");
  });

  it("are asked for by response rules that read them", async () => {
    const set = [
      'policies: [{ resource: "POST /x", condition: "true" }]',
      "response_filters:",
      "  - endpoint: /x",
      "    filter_rules: [{ field: ssn, condition: exists(request.body.admin), action: remove }]",
    ].join("\n");
    const parts = { method: "POST", headers: JSON_TYPE } as const;
    assert.equal(await decide(set, { ...parts, body: null, bodies: "on_request" }), NEEDED);
    assert.equal(await decide(set, { ...parts, body: "{}", bodies: "handed_over" }), TRUE);
  });

  describe("at a GraphQL endpoint", () => {
    const set =
      'graphql_policies:\n  - { query: me, condition: "true" }\n  - { query: pay, condition: "false" }\n';
    const ALLOWED = "ALLOW GRAPHQL_ALLOWED";
    const MALFORMED = "DENY GRAPHQL_MALFORMED";
    const body = '{"query":"{me}"}';
    const cases: readonly (readonly [RequestParts, string])[] = [
      [{ path: QUERY, body: null, bodies: "on_request" }, NEEDED],
      [{ method: "HEAD", path: QUERY, body: null, bodies: "on_request" }, NEEDED],
      [{ path: "/graphql?query={pay}", body: null, bodies: "on_request" }, "DENY GRAPHQL_DENIED"],
      [{ path: "/graphql", body: null, bodies: "on_request" }, MALFORMED],
      [{ method: "POST", path: "/graphql", body: null, bodies: "on_request" }, NEEDED],
      [{ method: "PUT", path: "/graphql", body: null, bodies: "on_request" }, MALFORMED],
      [{ path: QUERY, body: "", bodies: "handed_over" }, ALLOWED],
      [{ method: "HEAD", path: QUERY, body: "", bodies: "handed_over" }, ALLOWED],
      [{ path: QUERY, body: '{"variables":{"id":"c2"}}', bodies: "handed_over" }, MALFORMED],
      [{ method: "HEAD", path: QUERY, body: '{"variables":{"id":"c2"}}', bodies: "handed_over" }, MALFORMED],
      // nobody knows whether there is one
      [{ path: QUERY, body: null }, MALFORMED],
      [{ path: QUERY, body: null, bodies: "handed_over" }, MALFORMED],
      [{ method: "POST", path: "/graphql", headers: JSON_TYPE, body: null }, MALFORMED],
      [{ method: "POST", path: "/graphql", headers: JSON_TYPE, body, bodies: "handed_over" }, ALLOWED],
      [
        {
          method: "POST",
          path: "/graphql",
          headers: JSON_TYPE,
          body,
          complete: false,
          bodies: "handed_over",
        },
        "DENY BODY_TOO_LARGE",
      ],
    ];
    for (const [parts, expected] of cases) {
      it(`${JSON.stringify(parts)}: ${expected}`, async () => {
        assert.equal(await decide(set, parts), expected);
      });
    }
  });
});
