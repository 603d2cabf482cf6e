import assert from "node:assert/strict";
import { load } from "js-yaml";
import { expectedInFront, REFUSED, requestOf, TABLE, titleOf } from "../../authorizers/support/case-table.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { isInstalled } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { deployText } from "../support/deploy-file.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { CLIENT } from "../support/front-client.ts";
import { startRelay, type Relay } from "../support/relay.ts";
import { startFrontProxy, type FrontProgram, type FrontProxy } from "../support/run-proxy.ts";

/** The host of the table's requests. */
const HOST = "app.test";

describe("deploy: the requests of every door, with a proxy in front of the gateway", function () {
  this.timeout(180_000);
  const programs = (["nginx", "haproxy", "caddy"] as const).filter((program) =>
    isInstalled(program, "deploy: the requests of every door"),
  );
  let applications: readonly [FrontApplication, FrontApplication];
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    applications = [await startFrontApplication("app"), await startFrontApplication("shop")];
    issuer = await startIssuer();
    const [{ url: backend }, { url: other }] = applications;
    const written = load(
      deployText("front-proxy.yaml")
        .replaceAll("http://127.0.0.1:3000", backend)
        .replaceAll("http://127.0.0.1:3001", other),
    ) as { readonly gateway: Readonly<Record<string, unknown>> };
    gateway = await startGateway({
      ...{ backend, issuer },
      // the proxies are at 127.0.0.1 here
      policies: { "default.yaml": TABLE.policies.replace('"127.0.0.1"', `"${CLIENT}"`) },
      config: { gateway: { ...written.gateway, listen_port: 0, cluster: { nodes: 1 } } },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await Promise.all(applications.map((application) => application.close()));
  });

  const decisions = async () => (await gateway.audit()).filter(({ event }) => event === undefined);

  for (const program of programs) describeFront(program);

  function describeFront(program: FrontProgram): void {
    describe(program, () => {
      let relay: Relay;
      let proxy: FrontProxy;

      before(async () => {
        relay = await startRelay();
        relay.target = gateway.port;
        const [{ port: first }, { port: second }] = applications;
        const ports = { gateway: relay.port, applications: [first, second] } as const;
        proxy = await startFrontProxy(program, { ...ports, host: HOST });
      });
      after(async () => {
        await proxy.stop();
        relay.close();
      });

      for (const one of TABLE.requests)
        it(titleOf(one), async () => {
          const { token } = one;
          const own =
            token === undefined ? [] : [`Authorization: Bearer ${await issuer.token({ sub: token })}`];
          const { length } = await decisions();
          relay.forget();
          const { status, body } = await sendRaw(proxy.port, requestOf(one, own), 60_000, {
            ...{ tls: HOST, from: CLIENT },
          });
          const expected = expectedInFront(`front-${program}`, one);
          if (expected === REFUSED) {
            // Caddy answers for hosts that it does not know with an empty 200
            assert.ok(status >= 400 || body === "", String(status));
            assert.deepEqual(relay.heads(), []);
            return;
          }
          const record = await eventually("the record", async () => (await decisions())[length]);
          const permitted = expected === "CONDITION_TRUE";
          assert.equal(`${record.decision} ${record.reason}`, `${permitted ? "ALLOW" : "DENY"} ${expected}`);
          if (!permitted) assert.ok(status >= 400, String(status));
          else if (one.line.startsWith("GET") && status === 200) {
            const { name, headers } = JSON.parse(body) as {
              readonly name: string;
              readonly headers: Readonly<Record<string, string>>;
            };
            assert.deepEqual(
              [name, headers["x-user-id"], headers["x-forwarded-for"]],
              ["app", token, CLIENT],
            );
          }
        });

      it("one record for each request that reached the gateway", async () => {
        const expected = TABLE.requests.filter((one) => expectedInFront(`front-${program}`, one) !== REFUSED);
        const before = programs.slice(0, programs.indexOf(program));
        const earlier = before.flatMap((name) =>
          TABLE.requests.filter((one) => expectedInFront(`front-${name}`, one) !== REFUSED),
        );
        assert.equal((await decisions()).length, expected.length + earlier.length);
      });
    });
  }
});
