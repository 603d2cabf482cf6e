import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { withoutHeaders } from "../../../src/decision/headers/forged-headers.ts";
import { acceptedBy } from "../../../src/processes/gateway/accepted-ambiguities.ts";
import { accessOf, deciderOf, outcome, snapshotOf, type RequestParts, UNUSED_VERIFIER } from "../support.ts";

function configOf(accepted: readonly object[]) {
  const loaded = loadGatewayConfig({ env: {}, overrides: { "gateway.accept_ambiguous": accepted } });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
  return loaded.config.gateway;
}

const PACKAGES = `
policies:
  - { resource: "GET /npm/{package}", condition: 'path.package.startsWith("@open/")' }
  - { resource: "GET /npm/{package}/-/{file}", condition: "true" }
  - { resource: "GET /files/**", condition: "true" }
  - { resource: "GET /files/secret", condition: user.role == "admin" }
  - { resource: "GET /shop/{page}", condition: 'path.page == "cart"' }
  - { resource: "GET /cgi/{id}", condition: 'not exists(request.headers["x_user_id"])' }
  - { resource: "GET /admin/**", condition: user.role == "admin" }
response_masks:
  - { api_pattern: GET /files/masked, fields: [{ name: ssn, mask_type: full, condition: "true" }] }
`;

describe("decision: what is accepted below a path, and the reading that is stated for it", () => {
  const accept = acceptedBy(
    configOf([
      { path: "/npm/{package}", checks: ["encoded_slash"], reading: "kept" },
      { path: "/files/**", checks: ["empty_segment", "encoded_slash"] },
      { path: "/shop/{page}", checks: ["path_parameter"], reading: "resolved" },
      { path: "/cgi/**", checks: ["underscore_header"] },
    ]),
  );
  const decide = async (parts: RequestParts) =>
    deciderOf(snapshotOf(PACKAGES), { verifier: UNUSED_VERIFIER, accept })(accessOf(parts));
  const ALLOW = "ALLOW CONDITION_TRUE";
  const AMBIGUOUS = "DENY AMBIGUOUS_PATH";

  const cases: readonly (readonly [what: string, parts: RequestParts, expected: string])[] = [
    ["one segment", { path: "/npm/@open%2fname" }, ALLOW],
    ["one segment that the rule denies", { path: "/npm/@shut%2fname" }, "DENY CONDITION_FALSE"],
    ["a split is not the same", { path: "/npm/@open/name" }, "DENY NO_MATCHING_RULE"],
    ["elsewhere", { path: "/npm/a%2fb/-/c.tgz" }, AMBIGUOUS],
    ["in front of the path", { path: "/x%2fnpm/@open" }, AMBIGUOUS],
    ["dots", { path: "/npm/@open%2f..%2f..%2fadmin%2fx" }, AMBIGUOUS],
    ["encoded dots", { path: "/npm/@open%2f%2e%2e%2f%2e%2e%2fadmin" }, AMBIGUOUS],
    ["a backslash", { path: "/npm/@open%2f..%5cadmin" }, AMBIGUOUS],
    ["a NUL", { path: "/npm/@open%2fa%00" }, AMBIGUOUS],
    ["two decodings", { path: "/npm/@open%252fa" }, AMBIGUOUS],
    ["in the other letter case", { path: "/NPM/@open%2fname" }, AMBIGUOUS],
    ["every reading is permitted", { path: "/files/a//b" }, ALLOW],
    ["a merged slash", { path: "/files//secret" }, "DENY IDENTITY_REQUIRED"],
    ["a split slash", { path: "/files/%2fsecret" }, "DENY IDENTITY_REQUIRED"],
    ["a host", { path: "//files/files/secret" }, AMBIGUOUS],
    ["a reading that is not below the path", { path: "//admin/files/x" }, AMBIGUOUS],
    ["without its parameter", { path: "/shop/cart;jsessionid=1" }, ALLOW],
    ["a parameter of another page", { path: "/shop/desk;jsessionid=1" }, "DENY CONDITION_FALSE"],
    ["an encoded parameter, which not all drop", { path: "/shop/cart%3bx" }, "DENY CONDITION_FALSE"],
    ["dots and a parameter", { path: "/shop/..;x" }, AMBIGUOUS],
    ["a header for CGI", { path: "/cgi/1", headers: [["x_api_key", "1"]] }, ALLOW],
    [
      "a header for CGI elsewhere",
      { path: "/files/1", headers: [["x_api_key", "1"]] },
      "DENY AMBIGUOUS_HEADERS",
    ],
    ["framing for CGI", { path: "/cgi/1", headers: [["content_length", "1"]] }, "DENY AMBIGUOUS_HEADERS"],
  ];
  for (const [what, parts, expected] of cases) {
    it(`${what}: ${parts.path ?? ""}`, async () => {
      assert.equal(outcome(await decide(parts)), expected);
    });
  }

  it("masks of every reading apply, and the record says what was accepted", async () => {
    const masked = await decide({ path: "/files//masked" });
    assert.deepEqual([masked.accepted, masked.plan?.response?.fields.length], [["empty_segment"], 1]);
    const kept = await decide({ path: "/npm/@open%2fname" });
    assert.deepEqual(
      [kept.accepted, kept.readAs, kept.alsoRead, kept.request?.path],
      [["encoded_slash"], "kept", undefined, "/npm/@open%2Fname"],
    );
  });

  it("a header that was removed because no client may send it is refused where underscores are not accepted", async () => {
    const parts = { headers: [["x_user_id", "root"]] } as const;
    const decided = async (path: string) => {
      const access = accessOf({ ...parts, path });
      const raw = withoutHeaders(access.raw, ["x_user_id"]);
      return outcome(
        await deciderOf(snapshotOf(PACKAGES), { verifier: UNUSED_VERIFIER, accept })({ ...access, raw }),
      );
    };
    assert.equal(await decided("/files/1"), "DENY AMBIGUOUS_HEADERS");
    // the rule does not see it, as the application does not
    assert.equal(await decided("/cgi/1"), ALLOW);
  });
});
