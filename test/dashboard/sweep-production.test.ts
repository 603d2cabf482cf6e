import assert from "node:assert/strict";
import { startHostileProvider, type HostileProvider } from "../support/providers/hostile-provider.ts";
import { startRecordingUpstream, type RecordingUpstream } from "../support/upstreams/recording-upstream.ts";
import { startReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { fillProduction } from "./journeys/contents.ts";
import { everyPage } from "./journeys/every-page.ts";
import { firstGateway } from "./journeys/first-gateway.ts";
import { firstPages } from "./journeys/first-pages.ts";
import { HostileTexts, markupSweep } from "./journeys/hostile.ts";
import { browserOfJourneys, stopsAfterFailure } from "./journeys/in-order.ts";
import { journeyWith, type Belongings } from "./journeys/journey.ts";
import { DashboardBench } from "./support.ts";

/** What holds for every page of production, which takes minutes: axe, a phone, people who may only read, markup. */
describe("every page of the dashboard of production in a browser", function () {
  this.timeout(600_000);
  const belongings: Belongings = {};
  const journey = journeyWith(belongings);
  const browser = browserOfJourneys();
  const texts = new HostileTexts();
  let receiver: WebhookReceiver;
  let provider: HostileProvider;
  let upstream: RecordingUpstream;
  before(async () => {
    [belongings.bench, receiver, provider, upstream] = await Promise.all([
      DashboardBench.start(browser(), "production"),
      startReceiver(),
      startHostileProvider(),
      startRecordingUpstream(),
    ]);
  });
  after(() => Promise.all([belongings.bench?.close(), receiver.close(), provider.close(), upstream.close()]));
  afterEach(() => {
    assert.deepEqual(belongings.bench?.complaints, []);
  });
  stopsAfterFailure();

  firstPages(journey);
  firstGateway(journey, () => upstream.url);

  describe("with something on each", () => {
    before(() => fillProduction(journey, texts, { receiver, provider }));
    const paths = async () => {
      const webhook = await journey.bench().control.context.db("webhooks").first<{ id: string }>("id");
      return [
        ...[
          "/",
          "/customers",
          "/customers?name=nobody",
          "/customers/cus_nobody",
          "/sessions",
          "/keys",
          "/audit",
        ],
        ...["/explain", "/events", "/gateways", "/webhooks", `/webhooks/${webhook.id}`],
        ...["details", "provider", "users", "sessions", "policies", "activity"].map(
          (tab) => `/customers/${journey.customer()}?tab=${tab}`,
        ),
        ...["/settings", "/settings?tab=account", "/settings?tab=system"],
      ];
    };
    everyPage(journey, paths);
    markupSweep(journey, texts, paths);
  });
});
