import assert from "node:assert/strict";
import { startIdentityProvider, type IdentityProvider } from "../support/providers/identity-provider.ts";
import { startReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { firstSteps } from "./journeys/first-steps.ts";
import { browserOfJourneys, stopsAfterFailure } from "./journeys/in-order.ts";
import { journeyWith, type Belongings } from "./journeys/journey.ts";
import { notAsExpected } from "./journeys/not-as-expected.ts";
import { openForHours } from "./journeys/open-for-hours.ts";
import { secrets } from "./journeys/secrets.ts";
import { settings } from "./journeys/settings.ts";
import { statesOfPages } from "./journeys/states.ts";
import { DashboardBench } from "./support.ts";

/**
 * In order, as one person would go: each part builds on what was made before. All share a browser and a control plane: starting
 * them takes longer than most parts.
 */
describe("the dashboard of production in a browser", function () {
  this.timeout(240_000);
  const belongings: Belongings = {};
  const browser = browserOfJourneys();
  let receiver: WebhookReceiver;
  let provider: IdentityProvider;
  before(async () => {
    [belongings.bench, receiver] = await Promise.all([
      DashboardBench.start(browser(), "production"),
      startReceiver(),
    ]);
    const redirectUri = `${belongings.bench.control.url}/v1/auth/callback`;
    provider = await startIdentityProvider({ redirectUri, claimsInIdToken: true });
  });
  after(() => Promise.all([belongings.bench?.close(), receiver.close(), provider.close()]));
  afterEach(() => {
    assert.deepEqual(belongings.bench?.complaints, []);
  });
  stopsAfterFailure();
  const journey = journeyWith(belongings);

  describe("first steps", () => {
    firstSteps(journey, () => receiver);
  });
  describe("settings, audit and providers", () => {
    settings(journey, () => provider);
  });
  describe("secrets that are shown once", () => {
    secrets(journey, () => receiver);
  });
  describe("what a page shows while it waits, and where something fails", () => {
    statesOfPages(journey);
    notAsExpected(journey);
    openForHours(journey);
  });
});
