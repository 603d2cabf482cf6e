import assert from "node:assert/strict";
import { startRecordingUpstream, type RecordingUpstream } from "../support/upstreams/recording-upstream.ts";
import { everyPage } from "./journeys/every-page.ts";
import { explaining } from "./journeys/explain.ts";
import { browserOfJourneys, stopsAfterFailure } from "./journeys/in-order.ts";
import { interruptions } from "./journeys/interruptions.ts";
import { journeyWith, SET, type Belongings } from "./journeys/journey.ts";
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
  everyPage(journey, async () => {
    const { db } = journey.bench().control.context;
    const job = await db("bulk_assignments")
      .where("failed", ">", 0)
      .first<{ id: string; policy_id: string }>("id", "policy_id");
    const previewed = await db("bulk_assignments").where({ action: "preview" }).first<typeof job>();
    return [
      ...["/policies", `/policies/${job.policy_id}`, "/policies?name=nobody", "/policies/pol_nobody"],
      ...[job, previewed].map(({ id, policy_id }) => `/policies/${policy_id}?tab=many&job=${id}`),
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
