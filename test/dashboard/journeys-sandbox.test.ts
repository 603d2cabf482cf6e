import assert from "node:assert/strict";
import { startRecordingUpstream, type RecordingUpstream } from "../support/upstreams/recording-upstream.ts";
import { explaining } from "./journeys/explain.ts";
import { explainedParts } from "./journeys/explained-parts.ts";
import { browserOfJourneys, stopsAfterFailure } from "./journeys/in-order.ts";
import { interruptions } from "./journeys/interruptions.ts";
import { journeyWith, type Belongings } from "./journeys/journey.ts";
import { manyCustomers } from "./journeys/many-customers.ts";
import { policySets } from "./journeys/policy-sets.ts";
import { requirementJourneys } from "./journeys/requirements.ts";
import { DashboardBench } from "./support.ts";

/** As the journey through production, with a gateway that enforces what the pages publish. */
describe("the dashboard of a sandbox with a real gateway, in a browser", function () {
  this.timeout(240_000);
  const belongings: Belongings = {};
  const browser = browserOfJourneys();
  const journey = journeyWith(belongings);
  let upstream: RecordingUpstream;
  before(async () => {
    [belongings.bench, upstream] = await Promise.all([
      DashboardBench.start(browser(), "sandbox"),
      startRecordingUpstream(),
    ]);
    belongings.owner = await belongings.bench.owner();
    const fields = { name: "Acme", allowed_return_urls: ["https://app.example.com/signed-in"] };
    belongings.customer = (await journey.api("POST", "/customers", fields)).body.data.id as string;
  });
  after(async () => {
    // first the one that asks the others
    await belongings.gateway?.stop();
    await Promise.all([upstream.close(), belongings.bench?.close()]);
  });
  afterEach(async () => {
    assert.deepEqual(belongings.bench?.complaints, []);
    assert.equal(await belongings.page?.evaluate("globalThis.hit"), undefined);
  });
  stopsAfterFailure();

  describe("policies and policy sets", () => {
    policySets(journey, () => upstream.url);
    requirementJourneys(journey);
  });
  describe("a policy for many customers", () => {
    manyCustomers(journey);
  });
  describe("what comes in between", () => {
    interruptions(journey);
  });
  describe("people and explanations", () => {
    explaining(journey);
    explainedParts(journey);
  });
});
