import assert from "node:assert/strict";
import { createIdentityHeaders } from "../../../src/decision/headers/identity-headers.ts";
import { GIVEN_UP } from "../../../src/decision/point/index.ts";
import { awsAnswer } from "../../../src/authorizers/aws/index.ts";
import { bearer, useIssuer } from "../../decision/support.ts";
import { useServedDoors } from "../../decision/point/support/served-doors.ts";
import { arnOf, eventOf, tokenEvent } from "./support/events.ts";
import { serveAws, STATED } from "./support/served-aws.ts";

describe("authorizers: answers to API Gateway", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const headers = async () => [bearer(await idp.token({ sub: "u-1" }))];
  const policyOf = (effect: string, arn: string) => ({
    Version: "2012-10-17",
    Statement: [{ Action: "execute-api:Invoke", Effect: effect, Resource: arn }],
  });

  it("a policy names this method and path, and who is asking", async () => {
    const { document } = serveAws(serve);
    assert.deepEqual(await document(eventOf("rest", { target: "/me", headers: await headers() })), {
      principalId: "u-1",
      policyDocument: policyOf("Allow", arnOf("GET", "/me")),
      context: { x_user_id: "u-1" },
    });
    assert.deepEqual(await document(eventOf("rest", { target: "/public" })), {
      principalId: "anonymous",
      policyDocument: policyOf("Allow", arnOf("GET", "/public")),
      context: {},
    });
    assert.deepEqual(await document(eventOf("rest", { target: "/nothing" })), {
      principalId: "anonymous",
      policyDocument: policyOf("Deny", arnOf("GET", "/nothing")),
      context: { error: "ACCESS_DENIED" },
    });
  });

  it("who is not identified gets 401 from a REST API, and failures are never kept", async () => {
    const { ask, document } = serveAws(serve);
    const unauthorized = { kind: "failure", message: "Unauthorized" };
    assert.deepEqual(await ask(eventOf("rest", { target: "/me" })), unauthorized);
    assert.deepEqual(await ask(tokenEvent("GET", "/me", "Bearer nonsense")), unauthorized);
    const denied = await document(eventOf("http-2.0", { target: "/me" }));
    assert.deepEqual(denied["policyDocument"], policyOf("Deny", arnOf("GET", "/me", "$default")));
    const failed = { kind: "failure", message: "no decision" };
    assert.deepEqual(await ask(eventOf("rest", { target: "/body" })), failed);
    assert.deepEqual(awsAnswer(GIVEN_UP, eventOf("rest", { target: "/public" }), STATED), failed);
  });

  it("an identity header can be the key of a usage plan; it is then no part of the context", async () => {
    const identityHeaders = createIdentityHeaders([
      ["x-user-id", ["user", "id"]],
      ["x-usage-key", ["user", "id"]],
    ]);
    const { document } = serveAws(
      serve,
      { usageIdentifierHeader: "x-usage-key" },
      { serving: { identityHeaders } },
    );
    const answer = await document(eventOf("rest", { target: "/me", headers: await headers() }));
    assert.equal(answer["usageIdentifierKey"], "u-1");
    assert.deepEqual(answer["context"], { x_user_id: "u-1" });
  });

  it("rules see the path without stage and base path", async () => {
    for (const [event, reason] of [
      [eventOf("http-2.0", { target: "/public", stage: "dev" }), "ALLOW CONDITION_TRUE"],
      [eventOf("rest", { target: "/public", basePath: "/shop" }), "ALLOW CONDITION_TRUE"],
      [eventOf("rest", { target: "/public", basePath: "/shop/test" }), "ALLOW CONDITION_TRUE"],
      [eventOf("http-2.0", { target: "/public", stage: "dev", basePath: "/shop" }), "ALLOW CONDITION_TRUE"],
      [eventOf("rest", { target: "/public", basePath: "/other" }), "DENY INTERNAL_ERROR"],
      [
        eventOf("rest", { target: "/public/", change: { methodArn: arnOf("GET", "/public") } }),
        "ALLOW CONDITION_TRUE",
      ],
      [eventOf("rest", { target: "/" }), "DENY NO_MATCHING_RULE"],
    ] as const) {
      const { ask, recorded } = serveAws(serve, { basePaths: ["/shop"] });
      await ask(event);
      assert.deepEqual(await recorded(), [reason], JSON.stringify(event["path"] ?? event["rawPath"]));
    }
  });

  it("cookies of format 2.0 are a header", async () => {
    const event = eventOf("http-2.0", { target: "/public", headers: [["Cookie", "a=1; b=2"]] });
    assert.deepEqual(event["cookies"], ["a=1", "b=2"]);
    const { ask, recorded } = serveAws(serve);
    await ask(event);
    assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE"]);
  });
});
