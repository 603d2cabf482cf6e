import assert from "node:assert/strict";
import type { IdpCapabilities, IdpRow } from "../../../src/control/tenancy/idp.ts";
import { requestedEvidence } from "../../../src/control/sign-in/requested-evidence.ts";

type Rules = Parameters<typeof requestedEvidence>[0];
type Asked = Parameters<typeof requestedEvidence>[1];
type Idp = Pick<IdpRow, "type" | "mfa_acr_values" | "capabilities">;

const CAPABLE: IdpCapabilities = { auth_time: true, amr: true, acr_values: null, prompt_login: null };
const NONE: Rules = { mfa_required: false };
const MFA: Rules = { mfa_required: true };
const AGE: Rules = { mfa_required: false, max_session_duration: 600 };

const idp = (capabilities: Partial<IdpCapabilities> | null = {}, more: Partial<Idp> = {}): Idp => ({
  type: "oidc",
  mfa_acr_values: ["urn:a", "urn:b"],
  capabilities: capabilities && { ...CAPABLE, ...capabilities },
  ...more,
});

describe("what a provider is asked to prove", () => {
  const cases: readonly (readonly [
    what: string,
    rules: Rules,
    asked: Asked,
    idp: Idp,
    parameters: object,
    asksFresh: boolean,
  ])[] = [
    ["nothing", NONE, {}, idp(), {}, false],
    [
      "what the application asks for",
      NONE,
      { acr_values: "x y", max_age: 60 },
      idp(),
      { acr_values: "x y", max_age: "60" },
      false,
    ],
    ["an age of no seconds", NONE, { max_age: 0 }, idp(), { max_age: "0" }, false],
    ["several factors", MFA, {}, idp(), { acr_values: "urn:a urn:b" }, false],
    [
      "the classes that it knows",
      MFA,
      {},
      idp({ acr_values: ["urn:b", "urn:c"] }),
      { acr_values: "urn:b" },
      false,
    ],
    ["none that it does not know", MFA, {}, idp({ acr_values: ["urn:c"] }), {}, false],
    ["one of those that count", MFA, { acr_values: "urn:c urn:b" }, idp(), { acr_values: "urn:b" }, false],
    ["none that does not count", MFA, { acr_values: "urn:c" }, idp(), { acr_values: "urn:a urn:b" }, false],
    [
      "whatever is asked where no class counts",
      MFA,
      { acr_values: "urn:c" },
      idp({}, { mfa_acr_values: null }),
      { acr_values: "urn:c" },
      false,
    ],
    [
      "what its type is documented to give",
      MFA,
      {},
      idp(null, { type: "okta", mfa_acr_values: null }),
      { acr_values: "urn:okta:loa:2fa:any phr phrh" },
      false,
    ],
    ["the age of the policy", AGE, { max_age: 601 }, idp(), { max_age: "600" }, false],
    ["the smaller age of the application", AGE, { max_age: 599 }, idp(), { max_age: "599" }, false],
    [
      "an age alone where it does not say whether it tells the time",
      AGE,
      {},
      idp({ auth_time: null }),
      { max_age: "600" },
      false,
    ],
    ["an age alone where it was never asked", AGE, {}, idp(null), { max_age: "600" }, false],
    [
      "to prompt where it does not tell the time",
      AGE,
      {},
      idp({ auth_time: false }),
      { max_age: "600", prompt: "login" },
      true,
    ],
    [
      "no prompt that it does not announce",
      AGE,
      {},
      idp({ auth_time: false, prompt_login: false }),
      { max_age: "600" },
      false,
    ],
    [
      "no prompt of Google, which refuses it",
      AGE,
      {},
      idp({ auth_time: false }, { type: "google" }),
      { max_age: "600" },
      false,
    ],
    ...(
      [
        ["that it does not announce", { auth_time: false, prompt_login: false }, {}],
        ["that Google refuses", { auth_time: false }, { type: "google" }],
      ] as const
    ).map(
      ([which, capabilities, more]) =>
        [
          `no new proof by the application's prompt ${which}`,
          AGE,
          { prompt: "login" },
          idp(capabilities, more),
          { max_age: "600", prompt: "login" },
          false,
        ] as const,
    ),
    [
      "no prompt where no age matters",
      MFA,
      {},
      idp({ auth_time: false }),
      { acr_values: "urn:a urn:b" },
      false,
    ],
    ...(["select_account", "consent"] as const).map(
      (prompt) =>
        [
          `the application's prompt ${prompt} beside ours`,
          AGE,
          { prompt },
          idp({ auth_time: false }),
          { max_age: "600", prompt: `login ${prompt}` },
          true,
        ] as const,
    ),
    [
      "the prompt for which both ask once",
      AGE,
      { prompt: "login" },
      idp({ auth_time: false }),
      { max_age: "600", prompt: "login" },
      true,
    ],
    [
      "the application's own prompt where the provider tells the time",
      AGE,
      { prompt: "select_account" },
      idp(),
      { max_age: "600", prompt: "select_account" },
      false,
    ],
    [
      "a new proof without an age where it does not tell the time",
      NONE,
      { prompt: "login" },
      idp({ auth_time: false }),
      { prompt: "login" },
      true,
    ],
    [
      "nothing new of somebody who is to be shown nothing",
      AGE,
      { prompt: "none" },
      idp({ auth_time: false }),
      { max_age: "600", prompt: "none" },
      false,
    ],
    ["a new proof without an age", NONE, { prompt: "login" }, idp(), { prompt: "login" }, false],
  ];
  for (const [what, rules, asked, provider, parameters, asksFresh] of cases)
    it(`is ${what}`, () => {
      assert.deepEqual(requestedEvidence(rules, asked, provider), { parameters, asksFresh });
    });
});
