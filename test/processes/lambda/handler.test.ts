import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { dump } from "js-yaml";
import type { JsonObject } from "../../../src/json/index.ts";
import { arnOf, eventOf, FORMS, tokenEvent } from "../../authorizers/aws/support/events.ts";
import { useIssuer } from "../../decision/support.ts";
import { FakeControlPlane } from "../../support/fake-control-plane.ts";
import { bundleFunction } from "./bundle.ts";

const run = promisify(execFile);
const MOST_BYTES = 5 * 1024 * 1024;

const CODE = `import { createHandler } from "@gatehouse-access/gatehouse/aws-lambda";
export const handler = createHandler();
`;
/** AWS Lambda: one process, events one after the other; what the function writes is the log. */
const RUNTIME = `
import { handler } from "./authorizer.mjs";
const answers = [];
for (const event of JSON.parse(process.argv[2]))
  answers.push(await handler(event, { getRemainingTimeInMillis: () => 20_000 }).catch((error) => ({ error: error.message })));
process.stderr.write("\\nANSWERS " + JSON.stringify(answers) + "\\n");
process.exit(0);
`;
const POLICIES = `policy_set: default
version: v1
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /masked", condition: "true" }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: user.role == "admin", action: remove }]
`;

describe("processes: the function of a Lambda authorizer", function () {
  this.timeout(180_000);
  const idp = useIssuer();
  let bundle: Awaited<ReturnType<typeof bundleFunction>>;
  before(async () => {
    bundle = await bundleFunction(CODE);
    await mkdir(join(bundle.directory, "policies"));
    await writeFile(join(bundle.directory, "policies", "default.yaml"), POLICIES);
    await writeFile(join(bundle.directory, "runtime.mjs"), RUNTIME);
  });

  /** Answers to events in one process, and the records that it wrote. */
  async function answersTo(events: readonly JsonObject[], config: object = {}) {
    const { issuer } = idp;
    const whole = {
      identity: { issuer: issuer.url, audience: issuer.audience, algorithms: ["ES256"] },
      // the machine may be busy
      authz: {
        decision_timeout: "15s",
        aws: { uncached: true, decoded_paths: true, token_authorizers: true },
      },
      ...config,
    };
    await writeFile(join(bundle.directory, "gateway.yaml"), dump(whole));
    const { stdout, stderr } = await run(
      process.execPath,
      [join(bundle.directory, "runtime.mjs"), JSON.stringify(events)],
      { cwd: bundle.directory, timeout: 120_000 },
    );
    const answers = JSON.parse(/^ANSWERS (.*)$/m.exec(stderr)?.[1] ?? "[]") as Record<string, unknown>[];
    const records = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { decision: string; reason: string });
    return { answers, records: records.map(({ decision, reason }) => `${decision} ${reason}`), stderr };
  }
  const effectOf = (answer: Record<string, unknown> | undefined) =>
    (answer?.["policyDocument"] as { Statement: { Effect: string; Resource: string }[] } | undefined)
      ?.Statement[0];

  it("is one file that AWS takes", () => {
    assert.ok(bundle.bytes < MOST_BYTES, `${bundle.bytes} bytes`);
  });

  it("decides by a folder of policies that lies beside it, and has written each record when it answers", async () => {
    const token = `Bearer ${await idp.token({ sub: "u-1" })}`;
    const { answers, records } = await answersTo([
      ...FORMS.map((form) => eventOf(form, { target: "/public" })),
      eventOf("rest", { target: "/me", headers: [["Authorization", token]] }),
      eventOf("rest", { target: "/me" }),
      eventOf("rest", { target: "/masked" }),
      tokenEvent("GET", "/me", token),
      eventOf("http-2.0", { target: "/nothing" }),
      { type: "REQUEST" },
    ]);
    assert.deepEqual(
      answers.map((answer) => effectOf(answer)?.Effect ?? answer["error"]),
      ["Allow", "Allow", "Allow", "Allow", "Unauthorized", "no decision", "Allow", "Deny", "no decision"],
    );
    assert.equal(effectOf(answers[3])?.Resource, arnOf("GET", "/me"));
    assert.equal((answers[3]?.["context"] as JsonObject)["x_user_id"], "u-1");
    assert.deepEqual(records, [
      ...["ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE"],
      ...["DENY IDENTITY_REQUIRED", "DENY PLAN_NOT_ENFORCEABLE", "ALLOW CONDITION_TRUE"],
      ...["DENY NO_MATCHING_RULE", "DENY INTERNAL_ERROR"],
    ]);
  });

  it("decides by a published set, and by the newer one after that", async () => {
    const plane = await FakeControlPlane.start();
    try {
      const publish = (version: string, text: string) => {
        plane.activate("default", { version, digest: version, files: [{ name: "default.yaml", text }] });
      };
      publish("1", POLICIES);
      const config = {
        policies: { source: "control_plane" },
        control_plane: { url: plane.url, api_key: plane.apiKey },
      };
      const open = eventOf("rest", { target: "/public" });
      const first = await answersTo([open], config);
      assert.deepEqual(first.records, ["ALLOW CONDITION_TRUE"], first.stderr);
      publish("2", POLICIES.replace('"GET /public"', '"GET /other"'));
      assert.deepEqual((await answersTo([open], config)).records, ["DENY NO_MATCHING_RULE"]);
    } finally {
      await plane.close();
    }
  });

  it("permits nothing without policies, and says what is wrong with the configuration", async () => {
    const event = eventOf("rest", { target: "/public" });
    const absent = await answersTo([event], { policies: { policy_set: "absent" } });
    assert.deepEqual(absent.answers, [{ error: "no decision" }]);
    assert.deepEqual(absent.records, ["DENY POLICY_NOT_READY"]);
    for (const [config, problem] of [
      [{ authz: { aws: { uncached: "perhaps" } } }, /authz\.aws\.uncached/],
      [{ telemetry: { tracing: { endpoint: "http://127.0.0.1:4318" } } }, /does not trace/],
      [{ rollout: { candidate: "next" } }, /cannot compare/],
    ] as const) {
      const { answers, records } = await answersTo([event], config);
      assert.match(String(answers[0]?.["error"]), problem);
      assert.deepEqual(records, []);
    }
  });
});
