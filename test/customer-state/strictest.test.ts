import assert from "node:assert/strict";
import fc from "fast-check";
import {
  strictest,
  violationOf,
  type AuthenticationConditions,
  type AuthenticationFacts,
} from "../../src/customer-state/index.ts";
import { runs } from "../support/runs.ts";

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const conditions = fc.record(
  {
    mfa_required: fc.boolean(),
    max_session_duration: fc.integer({ min: 60, max: 70 }),
    allowed_email_domains: some(["a.example", "b.example", "c.example"]),
    allowed_ip_ranges: some(["10.0.0.0/8", "10.1.0.0/16", "192.0.2.7", "2001:db8::/32"]),
  },
  { requiredKeys: [] },
);
const facts: fc.Arbitrary<AuthenticationFacts> = fc.record({
  email: fc.constantFrom(undefined, "x@a.example", "x@b.example", "x@c.example", "x@d.example"),
  clientIp: fc.constantFrom("10.0.0.1", "10.1.0.1", "192.0.2.7", "2001:db8::1", "unknown"),
  amr: fc.subarray(["pwd", "otp", "pin", "mfa"]),
  authTime: fc.option(fc.integer({ min: 930, max: 1000 }), { nil: undefined }),
  now: fc.constant(1000),
});

describe("the strictest of several policies", () => {
  it("is satisfied exactly by what satisfies each of them", () => {
    let [satisfied, violated] = [0, 0];
    fc.assert(
      fc.property(fc.array(conditions, { maxLength: 4 }), facts, (policies, fact) => {
        const each = policies.every((policy) => violationOf(strictest([policy]), fact) === undefined);
        const all = violationOf(strictest(policies), fact) === undefined;
        if (all) satisfied += 1;
        else violated += 1;
        assert.equal(all, each);
      }),
      { numRuns: runs(3000) },
    );
    // both come up often enough to mean something
    assert.ok(satisfied > 100 && violated > 100, `${satisfied} satisfied, ${violated} violated`);
  });

  it("only gets stricter with each policy, in whatever order they come", () => {
    fc.assert(
      fc.property(fc.array(conditions, { maxLength: 4 }), conditions, facts, (policies, one, fact) => {
        const with_ = violationOf(strictest([...policies, one]), fact);
        if (violationOf(strictest(policies), fact) !== undefined) assert.notEqual(with_, undefined);
        assert.equal(with_, violationOf(strictest([one, ...policies.toReversed()]), fact));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("says what each of one policy's conditions says", () => {
    const none: AuthenticationFacts = {
      email: undefined,
      clientIp: "198.51.100.1",
      amr: ["pwd"],
      authTime: 0,
      now: 1000,
    };
    const cases: readonly (readonly [AuthenticationConditions, string | undefined])[] = [
      [{}, undefined],
      [{ mfa_required: false }, undefined],
      [{ mfa_required: true }, "MFA_REQUIRED"],
      [{ max_session_duration: 999 }, "SESSION_TOO_OLD"],
      [{ max_session_duration: 1000 }, undefined],
      [{ allowed_email_domains: ["a.example"] }, "EMAIL_DOMAIN_NOT_ALLOWED"],
      [{ allowed_ip_ranges: ["10.0.0.0/8"] }, "CLIENT_ADDRESS_NOT_ALLOWED"],
      [{ allowed_ip_ranges: ["198.51.100.0/24"] }, undefined],
    ];
    for (const [policy, violation] of cases) assert.equal(violationOf(strictest([policy]), none), violation);
  });

  it("of none asks for nothing", () => {
    assert.deepEqual(strictest([]), {
      mfa_required: false,
      allowed_email_domains: [],
      allowed_ip_ranges: [],
    });
  });
});
