import assert from "node:assert/strict";
import { SignIn, TokenVerifier } from "../../../clients/node/src/index.ts";
import { FakeGatehouse } from "../../../clients/node/src/testing/index.ts";
import { DATA } from "../../../clients/node/src/testing/fake-data.ts";
import { CASES, type Step } from "./support/cases.ts";
import { methodsOf, nodeMethods, snakeCase, type Method } from "./support/node-methods.ts";

/** What no case calls on a real control plane, and why. */
const NOT_CALLED: Readonly<Record<string, string>> = {
  "token_verifier.load_keys": "`verify` and `SignIn` call it first",
  "fake.client": "every case on the fake begins with it",
  "fake.add_event": "the API has no call that adds an event; the real ones come of changes",
  "fake.expire_events":
    "the API has no call for it; what is answered then is tried with a cursor of another feed",
};

/** What a step calls, as its result shows: one that must fail has not shown what the method does. */
function calledBy(step: Step): readonly string[] {
  if (step.error !== undefined) return [];
  if (step.call !== undefined) return [step.call];
  if (step.follow !== undefined) return ["events.follow"];
  if (step.sign_in !== undefined) return [`sign_in.${step.sign_in}`];
  if (step.verify_token !== undefined) return ["token_verifier.verify"];
  return step.start_session === undefined ? [] : ["fake.add_session"];
}

const REAL = CASES.filter(({ on }) => on.some((place) => place !== "fake"));

function calledIn(cases: typeof CASES): ReadonlySet<string> {
  return new Set(cases.flatMap(({ steps }) => steps.flatMap(calledBy)));
}

describe("the shared cases", () => {
  let methods: readonly Method[];
  before(async () => {
    methods = await nodeMethods();
  });

  /** Every name that a case could call. */
  function names(): readonly string[] {
    return [
      ...methods.map(({ name }) => name),
      ...methodsOf(SignIn).map((name) => `sign_in.${snakeCase(name)}`),
      ...methodsOf(TokenVerifier).map((name) => `token_verifier.${snakeCase(name)}`),
      ...methodsOf(FakeGatehouse).map((name) => `fake.${snakeCase(name)}`),
    ];
  }

  it("call every method of the libraries on a real control plane, but those that are listed", () => {
    const called = calledIn(REAL);
    assert.deepEqual(
      [...new Set(names())].filter((name) => !called.has(name)).sort(),
      Object.keys(NOT_CALLED).sort(),
    );
  });

  it("call no method that the libraries do not have", () => {
    const known = new Set(names());
    assert.deepEqual(
      [...calledIn(CASES)].filter((name) => !known.has(name)),
      [],
    );
  });

  it("carry out every operation of the fake on a real control plane and on the fake, in the same case", () => {
    const called = calledIn(REAL.filter(({ on }) => on.includes("fake")));
    const missing = Object.entries(DATA.operations).filter(([, operation]) => {
      const path = `/v1${operation.path.replace(/\{\w+\}/g, "x")}`;
      return !methods.some(
        (one) => one.method === operation.method && one.path === path && called.has(one.name),
      );
    });
    assert.deepEqual(
      missing.map(([id]) => id),
      [],
    );
  });
});
