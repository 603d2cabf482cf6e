import assert from "node:assert/strict";
import { stepUpChallenge, stepUpOf, type AuthenticationRules } from "../../src/customer-state/index.ts";

const RULES: AuthenticationRules = {
  mfa_required: true,
  mfa_acr_values: ["urn:a", "urn:b"],
  max_session_duration: 600,
  allowed_email_domains: [],
  allowed_ip_ranges: [],
};

describe("step-up", () => {
  it("asks for all that the rules ask of a sign-in, whichever is violated", () => {
    const all = { acr_values: "urn:a urn:b", max_age: 600 };
    assert.deepEqual(stepUpOf(RULES, "MFA_REQUIRED"), all);
    assert.deepEqual(stepUpOf(RULES, "SESSION_TOO_OLD"), all);
    const { max_session_duration, ...ageless } = RULES;
    assert.deepEqual(stepUpOf(ageless, "MFA_REQUIRED"), { acr_values: all.acr_values });
    assert.deepEqual(stepUpOf({ ...RULES, mfa_required: false }, "SESSION_TOO_OLD"), { max_age: 600 });
    assert.deepEqual(stepUpOf({ ...ageless, mfa_acr_values: [] }, "MFA_REQUIRED"), {});
  });

  it("is no way out of what a sign-in does not change", () => {
    assert.equal(stepUpOf(RULES, "CLIENT_ADDRESS_NOT_ALLOWED"), undefined);
    assert.equal(stepUpOf(RULES, "EMAIL_DOMAIN_NOT_ALLOWED"), undefined);
    assert.equal(stepUpOf(RULES, undefined), undefined);
  });

  it("is asked for as RFC 9470 has it, and nothing ends a parameter early", () => {
    assert.equal(
      stepUpChallenge("more is needed", { acr_values: "urn:a urn:b", max_age: 600 }),
      'Bearer realm="gatehouse", error="insufficient_user_authentication", error_description="more is needed", ' +
        'acr_values="urn:a urn:b", max_age="600"',
    );
    assert.equal(
      stepUpChallenge('a"b\\c\r\n', { acr_values: 'x", max_age="0' }),
      'Bearer realm="gatehouse", error="insufficient_user_authentication", error_description="a b c  ", ' +
        'acr_values="x , max_age= 0"',
    );
  });
});
