import assert from "node:assert/strict";
import {
  startCaddy,
  startEnvoy,
  startHaproxy,
  startNginx,
  type Proxy,
} from "../../authorizers/support/proxies.ts";
import { HTTP_DOOR_PATHS } from "../../../src/authorizers/index.ts";
import { guideText } from "../../authorizers/support/guide.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening } from "../../support/is-listening.ts";
import { isInstalled } from "../../support/programs.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

/** The first of two ports next to each other. */
async function twoPorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 65_535 && !(await isListening(port + 1))) return port;
  }
}

const TESTS = "end to end: a permitted and a denied request through a proxy";

describe("end to end: other proxies ask a running service of two workers, as the guides describe", function () {
  this.timeout(240_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let [http, spop] = [0, 0];

  before(async () => {
    [upstream, issuer, http, spop] = await Promise.all([
      startRecordingUpstream(),
      startIssuer(),
      twoPorts(),
      twoPorts(),
    ]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      nodes: 2,
      policies: { "default.yaml": 'policies: [{ resource: "GET /public", condition: "true" }]\n' },
      config: {
        authz: {
          decision_timeout: "15s",
          http_listen: `127.0.0.1:${http}`,
          spop_listen: `127.0.0.1:${spop}`,
          http_callers: ["127.0.0.1"],
          http_doors: ["nginx", "caddy", "envoy-http", "authzen"],
          http_door_callers: { authzen: ["127.0.0.2"] },
        },
      },
    });
  });
  after(async () => {
    await Promise.all([gateway.stop(), issuer.close()]);
    await upstream.close();
  });

  for (const [name, isHere, start, first] of [
    ["nginx", isInstalled("nginx", TESTS), startNginx, () => http],
    ["caddy", isInstalled("caddy", TESTS), startCaddy, () => http],
    ["haproxy", isInstalled("haproxy", TESTS), startHaproxy, () => spop],
    ["envoy-http", true, startEnvoy, () => http],
  ] as const)
    if (isHere)
      it(`${name}: a permitted and a denied request`, async () => {
        const app = Number(new URL(upstream.url).port);
        const proxy: Proxy = await start({ authz: [first(), first() + 1], app });
        try {
          const commands = [
            ...guideText(name).matchAll(/^curl -i http:\/\/127\.0\.0\.1:8000(\S+) +# (\d+)/gm),
          ];
          assert.deepEqual(
            commands.map(([, , status]) => status),
            ["200", "403"],
          );
          for (const [, path = "", status] of commands)
            assert.equal((await sendRaw(proxy.port, rawGet(path))).status, Number(status), path);
        } finally {
          await proxy.stop();
        }
      });

  it("counts what got no decision", async () => {
    const refused = (cause: string) => gateway.metric("gatehouse_http_authorizers_refused_total", { cause });
    assert.equal(await refused("stranger"), 0);
    const before = await refused("unknown_path");
    assert.equal((await sendRaw(http, rawGet("/nowhere"))).status, 404);
    assert.equal(await refused("unknown_path"), before + 1);
  });

  it("offers the doors that are configured, to the callers of each", async () => {
    assert.equal((await sendRaw(http, rawGet("/traefik"))).status, 404);
    assert.equal((await sendRaw(http, rawGet("/aws", [], "POST"))).status, 404);
    for (const path of HTTP_DOOR_PATHS.authzen)
      assert.equal((await sendRaw(http, rawGet(path))).status, 403, path);
    const refused = { cause: "stranger" };
    const { length } = HTTP_DOOR_PATHS.authzen;
    assert.equal(await gateway.metric("gatehouse_http_authorizers_refused_total", refused), length);
    // somebody who may ask, and described nothing
    assert.equal((await sendRaw(http, rawGet("/nginx"))).status, 500);
  });
});
