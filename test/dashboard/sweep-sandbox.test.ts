import assert from "node:assert/strict";
import { fillSandbox } from "./journeys/contents-sandbox.ts";
import { everyPage } from "./journeys/every-page.ts";
import { HostileTexts, markupSweep } from "./journeys/hostile.ts";
import { browserOfJourneys, stopsAfterFailure } from "./journeys/in-order.ts";
import { journeyWith, SET, type Belongings } from "./journeys/journey.ts";
import { DashboardBench } from "./support.ts";

/** As the one of production, for the pages of policies and policy sets, and those that only a sandbox has. */
describe("every page of the dashboard of a sandbox in a browser", function () {
  this.timeout(600_000);
  const belongings: Belongings = {};
  const journey = journeyWith(belongings);
  const browser = browserOfJourneys();
  const texts = new HostileTexts();
  before(async () => {
    const bench = await DashboardBench.start(browser(), "sandbox");
    belongings.bench = bench;
    belongings.owner = await bench.owner();
    belongings.page = await bench.open("/");
    await bench.signIn(belongings.page, belongings.owner.email);
    await fillSandbox(journey, texts);
  });
  after(() => belongings.bench?.close());
  afterEach(() => {
    assert.deepEqual(belongings.bench?.complaints, []);
  });
  stopsAfterFailure();

  const paths = async () => {
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
      ...["people", "users", "sessions"].map((tab) => `/customers/${journey.customer()}?tab=${tab}`),
    ];
  };
  everyPage(journey, paths);
  markupSweep(journey, texts, async () => [
    ...(await paths()),
    `/policy-sets/${SET}?tab=edit&from=v2`,
    "/audit",
  ]);
});
