import assert from "node:assert/strict";
import { claimPolicyOf } from "../../../../src/control/tenancy/claim-policy.ts";
import { permitClaims, type ClaimPolicy } from "../../../../src/control/tenancy/permit-claims.ts";
import { effectiveAttributes } from "../../../../src/control/resources/users/store.ts";
import type { UserAttributes } from "../../../../src/control/tenancy/attributes.ts";

const NOTHING: ClaimPolicy = {
  allowed_roles: null,
  allowed_permissions: null,
  allowed_groups: null,
  allowed_claims: null,
  role_mapping: {},
  unset: "nothing",
};

type Case = readonly [
  what: string,
  claimed: UserAttributes,
  policy: Partial<ClaimPolicy>,
  permitted: UserAttributes,
  dropped?: readonly (readonly [claim: string, values: readonly string[], reason: string])[],
];

const unset = (list: string) => `\`${list}\` of the customer is not set`;
const unlisted = (list: string) => `\`${list}\` of the customer does not list it`;

const CASES: readonly Case[] = [
  [
    "nothing with a number that was rounded when it was stored, not even in a list",
    {
      account: 9007199254740992,
      accounts: [1, 1.2345678901234568e20],
      groups: ["g", 1e23],
      seat: 0.1,
      at: [7],
    },
    { allowed_claims: ["*"], allowed_groups: ["*"] },
    { seat: 0.1, at: [7] },
    [
      ["account", ["9007199254740992"], "a number in it may be rounded"],
      ["accounts", ["1", "123456789012345680000"], "a number in it may be rounded"],
      ["groups", ["g", "1e+23"], "a number in it may be rounded"],
    ],
  ],
  [
    "nothing where nothing was set",
    { role: "admin", roles: ["a"], permissions: ["p"], groups: ["g"], department: "d", is_admin: true },
    {},
    {},
    [
      ["role", ["admin"], unset("allowed_roles")],
      ["roles", ["a"], unset("allowed_roles")],
      ["permissions", ["p"], unset("allowed_permissions")],
      ["groups", ["g"], unset("allowed_groups")],
      ["department", ["d"], unset("allowed_claims")],
      ["is_admin", ["true"], unset("allowed_claims")],
    ],
  ],
  [
    "nothing of a list that is empty",
    { roles: ["a"] },
    { allowed_roles: [] },
    {},
    [["roles", ["a"], unlisted("allowed_roles")]],
  ],
  [
    "what is listed, and nothing beside it",
    { role: "viewer", roles: ["viewer", "admin"], permissions: ["a", "b", "c"] },
    { allowed_roles: ["viewer"], allowed_permissions: ["c", "a"] },
    { role: "viewer", roles: ["viewer"], permissions: ["a", "c"] },
    [
      ["roles", ["admin"], unlisted("allowed_roles")],
      ["permissions", ["b"], unlisted("allowed_permissions")],
    ],
  ],
  [
    "exactly what is listed",
    { roles: ["Viewer", " viewer", "viewer ", "view", "viewers", "vıewer", "view\u0435r"] },
    { allowed_roles: ["viewer"] },
    {},
    [
      [
        "roles",
        ["Viewer", " viewer", "viewer ", "view", "viewers", "vıewer", "view\u0435r"],
        unlisted("allowed_roles"),
      ],
    ],
  ],
  [
    "no other type, though it be written alike",
    { role: true, roles: [1, true, null, "1"], permissions: "a b" },
    { allowed_roles: ["1", "true", "null"], allowed_permissions: ["a", "b"] },
    { roles: ["1"] },
    [
      ["role", ["true"], unlisted("allowed_roles")],
      ["roles", ["1", "true", "null"], unlisted("allowed_roles")],
      ["permissions", ["a b"], unlisted("allowed_permissions")],
    ],
  ],
  [
    "a role in a list",
    { role: ["viewer", "admin"] },
    { allowed_roles: ["viewer"] },
    { role: ["viewer"] },
    [["role", ["admin"], unlisted("allowed_roles")]],
  ],
  [
    "an empty list of what may be said",
    { permissions: [] },
    { allowed_permissions: ["a"] },
    { permissions: [] },
  ],
  [
    "anything where that was said",
    { role: ["a", 1], roles: "x" },
    { allowed_roles: ["*"] },
    { role: ["a", 1], roles: "x" },
  ],
  [
    "a star as any other text, where nobody lists it",
    { roles: ["*"] },
    { allowed_roles: ["a"] },
    {},
    [["roles", ["*"], unlisted("allowed_roles")]],
  ],
  [
    "other attributes by their names",
    { department: "sales", is_admin: true, cost_center: 7 },
    { allowed_claims: ["department", "cost_center"] },
    { department: "sales", cost_center: 7 },
    [["is_admin", ["true"], unlisted("allowed_claims")]],
  ],
  [
    "names of lists by these lists alone",
    { role: "admin", permissions: ["p"] },
    { allowed_claims: ["*"] },
    {},
    [
      ["role", ["admin"], unset("allowed_roles")],
      ["permissions", ["p"], unset("allowed_permissions")],
    ],
  ],
  [
    "nothing that says who somebody is",
    { id: "usr_1", customer_id: "cus_1", status: "active", email: "e", name: "n" },
    { allowed_claims: ["*"], unset: "anything" },
    {},
    ["id", "customer_id", "status", "email", "name"].map((claim, at) => [
      claim,
      [["usr_1", "cus_1", "active", "e", "n"][at] ?? ""],
      "not accepted from any identity provider",
    ]),
  ],
  [
    "of the operator's own provider all that no list was set for",
    { role: "admin", permissions: ["p"], groups: ["g"], employee_id: "u-1", assigned_customers: ["c-1"] },
    { unset: "anything", allowed_permissions: [] },
    { role: "admin", groups: ["g"], employee_id: "u-1", assigned_customers: ["c-1"] },
    [["permissions", ["p"], unlisted("allowed_permissions")]],
  ],
  [
    "roles of groups, allowed or not, and the one role that they come to",
    { role: "admin", groups: ["staff", "Ops"] },
    { role_mapping: { Ops: ["manager"], ops: ["admin"] } },
    { role: "manager", roles: ["manager"] },
    [
      ["role", ["admin"], unset("allowed_roles")],
      ["groups", ["staff"], unset("allowed_groups")],
    ],
  ],
  [
    "roles of groups beside those that may be said, and no one role of several",
    { roles: ["viewer", "x"], groups: ["a", "b"] },
    { allowed_roles: ["viewer"], allowed_groups: ["b"], role_mapping: { a: ["m", "viewer"], b: ["m"] } },
    { roles: ["viewer", "m"], groups: ["b"] },
    [["roles", ["x"], unlisted("allowed_roles")]],
  ],
  [
    "the role that is said before that of a group",
    { role: "viewer", groups: "a" },
    { allowed_roles: ["viewer"], role_mapping: { a: ["m"] } },
    { role: "viewer", roles: ["m"] },
  ],
  [
    "no group that every object has",
    { groups: ["constructor", "__proto__", "toString"] },
    { allowed_groups: ["*"], role_mapping: {} },
    { groups: ["constructor", "__proto__", "toString"] },
  ],
];

describe("what an identity provider may say", () => {
  it("is anything, as long as no list is set, for the sandbox's own provider alone", () => {
    const settings = (environment: "sandbox" | "production") => ({
      environment,
      publicUrl: "https://api.example",
    });
    const own = "https://api.example/idp";
    const unsetOf = (environment: "sandbox" | "production", issuer: string | null) =>
      claimPolicyOf(settings(environment), NOTHING, issuer).unset;
    assert.equal(unsetOf("sandbox", own), "anything");
    assert.equal(unsetOf("sandbox", "https://api.example/idp/"), "nothing");
    assert.equal(unsetOf("sandbox", "https://acme.example"), "nothing");
    assert.equal(unsetOf("sandbox", null), "nothing");
    assert.equal(unsetOf("production", own), "nothing");
  });

  for (const [what, claimed, policy, permitted, dropped = []] of CASES)
    it(`is ${what}`, () => {
      const outcome = permitClaims(claimed, { ...NOTHING, ...policy });
      assert.deepEqual(outcome.permitted, permitted);
      assert.deepEqual(
        outcome.dropped.map(({ claim, values, reason }) => [claim, values, reason]),
        dropped.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );
    });

  it("is over what administrators set by nothing, though a number of theirs was rounded when it was stored", () => {
    const row = {
      ...{ id: "usr_1", customer_id: "cus_1", issuer: null, subject: "s", email: null, name: null },
      ...{ status: "active" as const, claimed: null, claimed_at: null, revision: 0, last_sign_in_at: null },
      ...{ created_at: new Date(), updated_at: new Date() },
      profile: { account: 7, seat: 8 },
      attributes: { account: 9007199254740992, desk: 9 },
    } as const;
    assert.deepEqual(effectiveAttributes(row, { ...NOTHING, allowed_claims: ["*"] }), {
      ...{ seat: 8, desk: 9, id: "usr_1", customer_id: "cus_1" },
    });
  });

  it("is told in part where much was dropped, and never half a character", () => {
    const groups = Array.from({ length: 200 }, (_, at) => `${"x".repeat(98)}😀😀${at}`);
    const [told] = permitClaims({ groups }, NOTHING).dropped;
    assert.deepEqual([told?.count, told?.values.length], [200, 20]);
    assert.ok(told?.values.every((value) => value.isWellFormed() && value.length <= 101));
  });

  it("is said again of what was permitted: nothing more, nothing less", () => {
    for (const [, claimed, policy] of CASES) {
      const whole = { ...NOTHING, ...policy, role_mapping: {} };
      const { permitted } = permitClaims(claimed, whole);
      assert.deepEqual(permitClaims(permitted, whole), { permitted, dropped: [] });
    }
  });
});
