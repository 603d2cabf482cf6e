import assert from "node:assert/strict";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, useIssuer } from "../support.ts";

const POLICIES = `
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /own", condition: exists(user.id) }
`;

describe("decision: an identity that is refused by where it stands", () => {
  const idp = useIssuer();

  const suspended: KnownState = {
    customer: () => undefined,
    sessionEnded: () => false,
    userStatus: () => "suspended",
  };

  const decide = async (how: "cookie" | "bearer", standings: KnownState | undefined, path: string) => {
    const token = await idp.token({ customer_id: "cus_1" });
    const decider = deciderOf(snapshotOf(POLICIES), {
      verifier: idp.verifier,
      cookie: "session",
      controlPlane: { state: () => standings },
    });
    const credentials = how === "cookie" ? (["cookie", `session=${token}`] as const) : bearer(token);
    return decider(accessOf({ path, headers: [credentials] }));
  };

  for (const [name, how, standings] of [
    ["the cookie of a suspended user", "cookie", suspended],
    ["a cookie while nothing is known", "cookie", undefined],
    ["a bearer token while nothing is known", "bearer", undefined],
  ] as const) {
    it(`is not told to the application on a public path: ${name}`, async () => {
      const decision = await decide(how, standings, "/public");
      assert.equal(outcome(decision), "ALLOW CONDITION_TRUE");
      // the headers that tell the application who it is are made of this
      assert.equal(decision.identity, undefined);
    });

    it(`is in the record of a denial all the same: ${name}`, async () => {
      const decision = await decide(how, standings, "/own");
      assert.equal(decision.verdict, "DENY");
      assert.equal(decision.identity?.userId, "u-1");
    });
  }
});
