import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { buildDashboard } from "../../dashboard/build.ts";
import { startBrowser } from "../clients/support/browser.ts";
import { startIdentityProvider, type IdentityProvider } from "../support/providers/identity-provider.ts";
import { startRecordingUpstream, type RecordingUpstream } from "../support/upstreams/recording-upstream.ts";
import { startReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { everyPage } from "./journeys/every-page.ts";
import { explaining } from "./journeys/explain.ts";
import { interruptions } from "./journeys/interruptions.ts";
import { firstSteps } from "./journeys/first-steps.ts";
import { journeyWith, SET, type Belongings } from "./journeys/journey.ts";
import { policySets } from "./journeys/policy-sets.ts";
import { requirementJourneys } from "./journeys/requirements.ts";
import { settings } from "./journeys/settings.ts";
import { DashboardBench } from "./support.ts";

/**
 * In order, as one person would go: each part builds on what was made before. All share a browser, and the parts of an
 * environment its control plane: starting them takes longer than most parts.
 */
describe("the dashboard in a browser", function () {
  this.timeout(240_000);
  let browser: Browser;
  const [production, sandbox]: [Belongings, Belongings] = [{}, {}];
  before(async () => {
    await buildDashboard();
    browser = await startBrowser();
  });
  after(() => browser.close());
  /** Parts need what those before them have made: after a failure, the rest of the environment would only wait. */
  const stopsAfterFailure = () => {
    let failed = false;
    beforeEach(() => {
      assert.equal(failed, false, "an earlier part of the journey has failed");
    });
    afterEach(function () {
      failed ||= this.currentTest?.isFailed() === true;
    });
  };

  describe("of production", () => {
    let receiver: WebhookReceiver;
    let provider: IdentityProvider;
    before(async () => {
      [production.bench, receiver] = await Promise.all([
        DashboardBench.start(browser, "production"),
        startReceiver(),
      ]);
      const redirectUri = `${production.bench.control.url}/v1/auth/callback`;
      provider = await startIdentityProvider({ redirectUri, claimsInIdToken: true });
    });
    after(() => Promise.all([production.bench?.close(), receiver.close(), provider.close()]));
    afterEach(() => {
      assert.deepEqual(production.bench?.complaints, []);
    });
    stopsAfterFailure();
    const journey = journeyWith(production);

    describe("first steps", () => {
      firstSteps(journey, () => receiver);
    });
    describe("settings, audit and providers", () => {
      settings(journey, () => provider);
    });
    everyPage(journey, async () => {
      const webhook = await journey.bench().control.context.db("webhooks").first<{ id: string }>("id");
      return [
        ...["/", "/customers", "/customers?name=nobody", "/customers/cus_nobody", "/keys", "/audit"],
        ...["/explain", "/events", "/gateways", "/webhooks", `/webhooks/${webhook.id}`],
        ...["details", "provider", "users", "sessions", "policies", "activity"].map(
          (tab) => `/customers/${journey.customer()}?tab=${tab}`,
        ),
        ...["/settings", "/settings?tab=account", "/settings?tab=system"],
      ];
    });
  });

  describe("of a sandbox with a real gateway", () => {
    let upstream: RecordingUpstream;
    before(async () => {
      [sandbox.bench, upstream] = await Promise.all([
        DashboardBench.start(browser, "sandbox"),
        startRecordingUpstream(),
      ]);
      sandbox.owner = await sandbox.bench.owner();
      const fields = { name: "Acme", allowed_return_urls: ["https://app.example.com/signed-in"] };
      sandbox.customer = (await journey.api("POST", "/customers", fields)).body.data.id as string;
    });
    after(async () => {
      // first the one that asks the others
      await sandbox.gateway?.stop();
      await Promise.all([upstream.close(), sandbox.bench?.close()]);
    });
    afterEach(async () => {
      assert.deepEqual(sandbox.bench?.complaints, []);
      assert.equal(await sandbox.page?.evaluate("globalThis.hit"), undefined);
    });
    stopsAfterFailure();
    const journey = journeyWith(sandbox);

    describe("policies and policy sets", () => {
      policySets(journey, () => upstream.url);
      requirementJourneys(journey);
    });
    everyPage(journey, async () => {
      const policy = await journey.bench().control.context.db("policies").first<{ id: string }>("id");
      return [
        ...["/policies", `/policies/${policy.id}`, "/policies?name=nobody", "/policies/pol_nobody"],
        ...["/policy-sets", `/policy-sets/${SET}`, "/policy-sets/none", "/policy-sets/fresh?tab=edit&new=1"],
        ...["edit&from=v1&compare=1", "edit&from=v0", "rollout", "rollout&start=v0", "history"].map(
          (tab) => `/policy-sets/${SET}?tab=${tab}`,
        ),
        `/customers/${journey.customer()}?tab=people`,
      ];
    });
    describe("what comes in between", () => {
      interruptions(journey);
    });
    describe("people and explanations", () => {
      explaining(journey);
    });
  });
});
