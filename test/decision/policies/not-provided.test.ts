import assert from "node:assert/strict";
import { findNotProvided, type Provisions } from "../../../src/decision/policies/not-provided.ts";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { compilePolicySet } from "../../../src/policy/index.ts";
import { provisionsOf } from "../../../src/processes/gateway/provisions.ts";
import { FED_BY_CONFIGURATION } from "../../support/provisions-fixture.ts";

function provisionsWith(overrides: Readonly<Record<string, unknown>>): Provisions {
  const loaded = loadGatewayConfig({ env: {}, overrides });
  assert.ok(loaded.ok);
  return provisionsOf(loaded.config);
}

function found(overrides: Readonly<Record<string, unknown>>, text = FED_BY_CONFIGURATION) {
  const { ir, diagnostics } = compilePolicySet([{ name: "a.yaml", text }]);
  assert.ok(ir, JSON.stringify(diagnostics));
  return findNotProvided(ir, provisionsWith(overrides));
}

/** What a configuration needs for every rule to be fed. */
const ALL = {
  attribute_sources: {
    people: { type: "file", path: "people.json" },
    plans: { type: "file", path: "plans.json" },
  },
  "identity.claims": { "user.tier": "tier", "user.badge": "https://example.com/badge" },
  "identity.headers": { "x-user-id": "user.id" },
  "identity.header_prefixes": ["x-customer-"],
};

describe("decision: what rules read and the configuration does not provide", () => {
  it("is found for every rule that reads it, at its place, with the key to configure", () => {
    const list = found({}).map(({ code, rule, at, configure }) => [code, rule.id, at.line, configure]);
    assert.deepEqual(list, [
      ["source-not-configured", "policies[0]", 6, "attribute_sources.people"],
      ["source-not-configured", "policies[1]", 9, "attribute_sources.plans"],
      ["claim-not-mapped", "policies[1]", 9, "identity.claims.user.tier"],
      ["claim-not-mapped", "policies[2]", 10, "identity.claims.user.badge"],
      ["header-not-delivered", "policies[3]", 11, "identity.client_headers"],
      ["header-not-delivered", "policies[3]", 11, "identity.headers"],
      ["claim-not-mapped", "response_masks[0]", 19, "identity.claims.user.badge"],
      ["claim-not-mapped", "graphql_policies[0]", 21, "identity.claims.user.tier"],
      ["claim-not-mapped", "websocket_policies[0].connection", 23, "identity.claims.user.tier"],
      ["claim-not-mapped", "websocket_policies[0].message_types[0]", 24, "identity.claims.user.badge"],
    ]);
  });

  it("says what, and what to write", () => {
    const [source, , key, , plan, role] = found({});
    assert.match(
      source?.message ?? "",
      /^`target` is always unknown: its attribute source `people` is not conf/,
    );
    assert.equal(source?.hint, "configure `attribute_sources.people`");
    assert.match(key?.message ?? "", /^`plan` is looked up by `user\.tier`: no caller has `user\.tier`/);
    assert.match(key?.hint ?? "", /`identity: \{ claims: \{ user\.tier: <claim> \} \}`/);
    assert.match(plan?.message ?? "", /header `x-user-plan`/);
    assert.match(role?.hint ?? "", /read `user\.role` instead/);
  });

  it("is nothing where the configuration provides it", () => {
    const { "identity.header_prefixes": prefixes, ...rest } = ALL;
    const set = FED_BY_CONFIGURATION.replace(' or request.headers["x-user-role"] == "admin"', "");
    assert.deepEqual(found({ ...rest, "identity.header_prefixes": prefixes }, set), []);
    assert.deepEqual(
      found({ ...rest, "identity.client_headers": ["x-user-plan"] }, set),
      [],
      "a client may use the header",
    );
    assert.deepEqual(
      found(rest, set).map(({ code }) => code),
      ["header-not-delivered"],
    );
  });

  it("names the nearest source and claim", () => {
    const near = found({
      attribute_sources: { people: { type: "file", path: "p" }, plan: { type: "file", path: "p" } },
      "identity.claims": { "user.tiers": "t" },
    });
    assert.match(
      near.find(({ code }) => code === "source-not-configured")?.hint ?? "",
      /did you mean `plan`\?/,
    );
    assert.match(
      near.find(({ code }) => code === "claim-not-mapped")?.hint ?? "",
      /did you mean `user\.tiers`\?/,
    );
    // `user.id` is near only by the name of the root
    const none = found({}).find(({ code }) => code === "claim-not-mapped");
    assert.match(none?.hint ?? "", /^map a claim to it: `identity: \{ claims: \{ user\.tier: /);
  });

  it("is nothing for the shipped names of claims, parameters, the body, and whole roots", () => {
    const set = `policies:
  - resource: GET /{id}
    condition: user.scopes.includes(path.id) and customer.id == user.customer_id and exists(user) and request.body.x == 1 and request.query.q == "x"
`;
    assert.deepEqual(found({}, set), []);
  });
});
