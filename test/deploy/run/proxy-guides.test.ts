import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guideBlocks, withPlaces } from "../../authorizers/support/guide.ts";
import {
  startCaddy,
  startEnvoy,
  startGrpcEnvoy,
  startHaproxy,
  startNginx,
  type Ports,
  type Proxy,
} from "../../authorizers/support/proxies.ts";
import { freePort } from "../../support/free-port.ts";
import { isInstalled } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startForwardAuth } from "../support/forward-auth.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { commandBlocks, NPX, runCommands } from "../support/guide-blocks.ts";
import { Processes } from "../support/processes.ts";

const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));

interface Guide {
  readonly page: string;
  /** Where the page has the first worker. */
  readonly listen: string;
  readonly start: (ports: Ports) => Promise<Proxy>;
  readonly workers?: 1 | 2;
}

const TESTS = "the guides to proxies that ask";

/** Each guide as somebody follows it: its `gateway.yaml`, its commands, and its proxy with its configuration. */
describe("deploy: guides to proxies that ask", function () {
  this.timeout(120_000);
  const processes = new Processes();
  let application: FrontApplication;
  let issuer: TestIssuer;

  before(async () => {
    [application, issuer] = await Promise.all([startFrontApplication("app"), startIssuer()]);
  });
  after(async () => {
    await Promise.all([application.close(), issuer.close()]);
  });
  afterEach(() => processes.stop());

  const http = "127.0.0.1:9292";
  if (isInstalled("nginx", TESTS)) follow({ page: "nginx", listen: http, start: startNginx });
  if (isInstalled("caddy", TESTS)) follow({ page: "caddy", listen: http, start: startCaddy });
  if (isInstalled("haproxy", TESTS))
    follow({ page: "haproxy", listen: "127.0.0.1:9392", start: startHaproxy });
  follow({ page: "envoy-http", listen: http, start: startEnvoy });
  follow({ page: "envoy-grpc", listen: "127.0.0.1:9191", start: startGrpcEnvoy });
  follow({ page: "traefik", listen: http, start: startTraefik, workers: 1 });

  function follow({ page, listen, start, workers = 2 }: Guide): void {
    it(`${page}.md leads from nothing to a request that is allowed, and one that is denied`, async () => {
      const folder = await temporaryDirectory();
      const port = await portsFor(workers);
      const config = withPlaces(guideBlocks(page, "yaml")[0] ?? "", {
        [listen]: `127.0.0.1:${port}`,
        "https://login.example.com": issuer.url,
        "my-api": issuer.audience,
      });
      await writeFile(join(folder, "gateway.yaml"), config);
      const [serve = "", ask = ""] = commandBlocks(page, 2);
      const env = {
        ...process.env,
        GATEHOUSE_TELEMETRY_PORT: "0",
        GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
        // the usual port may be somebody else's here
        ...(!config.includes("  listen:") && { GATEHOUSE_AUTHZ_LISTEN: "unix:authz.sock" }),
      };
      const script = `${NPX}\n${serve}`;
      const words = ["--norc", "-euo", "pipefail", "-c", script, "bash", process.execPath, CLI];
      await processes.start("bash", words, { cwd: folder, env }, (printed) =>
        printed.includes("authz ready on"),
      );
      const proxy = await start({ authz: [port, port + 1], app: application.port });
      try {
        const printed = await runCommands(ask, {
          cwd: folder,
          places: { "127.0.0.1:8000": `127.0.0.1:${proxy.port}` },
        });
        assert.match(printed, /"name":"app","url":"\/public"/);
        assert.doesNotMatch(printed, /"url":"\/private"/);
      } finally {
        await proxy.stop();
      }
    });
  }

  function startTraefik({ authz: [port], app }: Ports): Promise<Proxy> {
    const dynamic = withPlaces(guideBlocks("traefik", "yaml")[1] ?? "", {
      "127.0.0.1:9292": `127.0.0.1:${port}`,
      "127.0.0.1:3000": `127.0.0.1:${app}`,
    });
    return startForwardAuth(dynamic);
  }
});

/** A port that is free, and the next ones too, most probably. */
async function portsFor(workers: number): Promise<number> {
  const port = await freePort();
  return port + workers > 65_535 ? portsFor(workers) : port;
}
