import assert from "node:assert/strict";
import { join } from "node:path";
import { policyExplainCommand } from "../../../src/cli/policy-explain.ts";
import {
  expectedAt,
  lineOf,
  REFUSED,
  requestOf,
  TABLE,
  titleOf,
} from "../../authorizers/support/case-table.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

describe("end to end: the requests of every door, at the gateway and in policy explain", function () {
  this.timeout(240_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": TABLE.policies },
    });
  });
  after(async () => {
    await Promise.all([gateway.stop(), issuer.close()]);
    await upstream.close();
  });

  const decisions = async () => (await gateway.audit()).filter(({ event }) => event === undefined);

  for (const one of TABLE.requests) {
    it(titleOf(one), async () => {
      const { token } = one;
      const own = token === undefined ? [] : [`Authorization: Bearer ${await issuer.token({ sub: token })}`];
      const { length } = await decisions();
      const { status } = await sendRaw(gateway.port, requestOf(one, own));
      const expected = expectedAt("gateway", one);
      if (expected === REFUSED) {
        assert.ok(status >= 400);
        return;
      }
      const record = await eventually("the record", async () => (await decisions())[length]);
      const permitted = expected === "CONDITION_TRUE";
      assert.equal(`${record.decision} ${record.reason}`, `${permitted ? "ALLOW" : "DENY"} ${expected}`);
      if (!permitted) assert.ok(status >= 400, String(status));
    });

    it(`explained: ${titleOf(one)}`, async () => {
      const [method, target] = lineOf(one.line);
      const args = ["--config", join(gateway.directory, "gateway.yaml"), "--json"];
      args.push("--request", `${method} ${target}`, "--header", "Host: app.test");
      for (const header of one.headers ?? []) args.push("--header", header);
      if (one.token !== undefined) args.push("--user", JSON.stringify({ id: one.token }));
      let text = "";
      const explained = policyExplainCommand((more) => (text += more)).parseAsync(args, { from: "user" });
      const expected = expectedAt("explain", one);
      if (expected === REFUSED) {
        await assert.rejects(explained);
        return;
      }
      await explained;
      const { decision, reason } = JSON.parse(text) as { readonly decision: string; readonly reason: string };
      assert.equal(
        `${decision} ${reason}`,
        `${expected === "CONDITION_TRUE" ? "ALLOW" : "DENY"} ${expected}`,
      );
    });
  }
});
