import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { loadGatewayConfig } from "../../../../src/config/index.ts";
import { createApiKey } from "../../../../src/control/resources/api-keys/store.ts";
import { startControlPlane, type ControlPlane } from "../../../../src/processes/control-plane/start.ts";
import { createLog } from "../../../../src/telemetry/log.ts";
import { testDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly cursor: string;
}

describe("the end of a control plane", () => {
  let directory: string;
  let database: TestDatabase;
  let plane: ControlPlane;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-end-"));
    database = await testDatabase();
    const overrides = {
      "api.port": 0,
      "api.environments": ["production"],
      "api.data_directory": directory,
      "api.encryption_key": randomBytes(32).toString("base64"),
      "database.url": database.url,
    };
    const loaded = loadGatewayConfig({ overrides });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    plane = await startControlPlane(loaded.config, { log: createLog({ level: "error", name: "end" }) });
  });
  after(async () => {
    await plane.close();
    agent.destroy();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });

  it("comes for those too who go on asking on a connection that they keep", async () => {
    const [served] = plane.environments;
    assert.ok(served);
    const actor = { kind: "system", id: "test", name: "test" } as const;
    const origin = { actor, requestId: "req_1", clientIp: "" };
    const { secret } = await served.context.units(origin, (unit) =>
      createApiKey(unit, { environment: "production", name: "gateway", scope: "gateway" }),
    );
    const follow = (query: string) =>
      new Promise<Answer>((resolve, reject) => {
        const options = { agent, headers: { authorization: `Bearer ${secret}` } };
        get(`${served.url}/v1/gateway/state${query}`, options, (answer) => {
          text(answer).then((body) => {
            const { data } = JSON.parse(body) as { data: { cursor: string } };
            resolve({ headers: answer.headers, cursor: data.cursor });
          }, reject);
        }).once("error", reject);
      });
    const { cursor } = await follow("");
    const waiting = follow(`?after=${cursor}&wait=20`);
    await eventually("the poll waits", async () => {
      const { rows } = await database.db.raw<{ rows: object[] }>(
        "select from pg_stat_activity where datname = current_database() and query like 'LISTEN \"gatehouse_gateway%'",
      );
      return rows.length > 0;
    });

    const closed = plane.close();
    let last = await waiting;
    let failure: unknown;
    while (failure === undefined) {
      try {
        last = await follow(`?after=${cursor}&wait=20`);
      } catch (error) {
        failure = error;
      }
    }
    assert.equal(last.headers.connection, "close");
    assert.equal((failure as NodeJS.ErrnoException).code, "ECONNREFUSED");
    await closed;
  });
});
