import assert from "node:assert/strict";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { runningPid } from "../../../src/storage/postmaster.ts";
import { Follower, type State } from "../../control/support/gateway-follower.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { CrashClients } from "../../support/crash-clients.ts";
import {
  areDelivered,
  assertChanges,
  assertEvents,
  assertReceived,
  assertRecords,
  assertResources,
} from "../../support/crash-findings.ts";
import { eventually } from "../../support/eventually.ts";
import { withPlaneDatabase } from "../../support/plane-database.ts";
import { startReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const CONFIG = {
  api: {
    ...PRODUCTION_ONLY,
    rate_limits: { management: 1_000_000, authentication: 1_000_000, analytics: 1_000_000 },
  },
  // what a dead process had claimed is delivered after this and half a minute
  webhooks: { timeout: "3s" },
};
/** Acknowledged requests between one kill and the next. */
const BETWEEN = [30, 45, 25];

describe("end to end: kill -9 under writes", () => {
  let plane: ControlPlaneProcess;
  let receiver: WebhookReceiver;
  let api: ReturnType<typeof apiClient>;
  let webhook: string;
  let clients: CrashClients;

  beforeEach(async () => {
    receiver = await startReceiver();
    plane = await startControlPlaneProcess({ config: CONFIG });
    api = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
    const all = await api("POST", "/webhooks", { url: receiver.url, events: ["*"] });
    const home = await api("POST", "/customers", { name: "Home" });
    assert.deepEqual([all.status, home.status], [201, 201]);
    webhook = all.body.data.id;
    clients = new CrashClients(api, { home: home.body.data.id, receiver: receiver.url });
  });
  afterEach(async () => {
    const [code] = await Promise.all([plane.stop(), clients.abandon()]);
    assert.equal(code, 0, plane.stderr());
    await receiver.close();
  });

  const acknowledged = (more: number) => {
    const enough = clients.acknowledged + more;
    return eventually(`${more} acknowledged requests`, () => clients.acknowledged >= enough);
  };

  /** Everything that the clients were told, and nothing else, is there; what follows it has followed. */
  const compare = async () => {
    await acknowledged(30);
    await clients.stop();
    await withPlaneDatabase(plane, async (db) => {
      await assertResources(db, clients);
      await assertChanges(db);
      await assertEvents(db, clients);
      await assertRecords(db, clients);
      await eventually("the last delivery", () => areDelivered(db), 120_000);
      await assertReceived(db, webhook, receiver.received);
    });
    const now = new Follower(
      async (query) => (await api("GET", `/gateway/state${query}`)).body.data as State,
    );
    now.apply((await api("GET", "/gateway/state")).body.data as State);
    clients.follower.apply(
      (await api("GET", `/gateway/state?after=${clients.follower.cursor ?? ""}`)).body.data as State,
    );
    assert.deepEqual(clients.follower.content(), now.content());
    assert.equal(clients.follower.completes, 1, "the cursor outlives the kill");
    assert.deepEqual(clients.strange, []);
  };

  it("of the control plane: what was acknowledged is there once, and so is what follows from it", async () => {
    const ports = [plane.url.production, plane.url.sandbox] as const;
    clients.start();
    for (const requests of BETWEEN) {
      await acknowledged(requests);
      await plane.kill();
      plane = await startControlPlaneProcess({ config: CONFIG, directory: plane.directory, ports });
    }
    await compare();
    const again = clients.wanted.filter(({ manner, sent }) => manner === "repeated" && sent > 1);
    assert.ok(again.length > 0, "no request met a kill");
  });

  it("of PostgreSQL: the same, with 503 meanwhile, and the API comes back by itself", async () => {
    // for root a link leads to where the server's own user can go
    const home = await realpath(join(plane.directory, "data", "postgres"));
    const data = join(home, "cluster", "data");
    clients.start();
    for (const requests of BETWEEN) {
      await acknowledged(requests);
      const before = clients.unavailable;
      const pid = await runningPid(data);
      assert.ok(pid !== undefined);
      process.kill(pid, "SIGKILL");
      await eventually("an answer that says so", () => clients.unavailable > before);
    }
    await compare();
    assert.equal(clients.lost, 0, "every request had an answer");
    assert.equal(plane.process.exitCode, null);
  });
});
