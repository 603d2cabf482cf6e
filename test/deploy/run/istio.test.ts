import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { dump } from "js-yaml";
import { envoyBinary } from "../../support/envoy.ts";
import { eventually, Hopeless } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import { connectSocket } from "../../support/socket-client.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { applyPatches, sidecarBootstrap, type ConfigPatch } from "../support/istio-patches.ts";

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));
const SCRIPT = fileURLToPath(new URL("../../../deploy/istio/envoy-filter.mjs", import.meta.url));

const POLICIES = `
policies:
  - { resource: "* /open/**", condition: "true" }
  - { resource: "GET /mine/**", condition: user.id == "ada" and request.client_ip == "127.0.0.1" }
  - { resource: "POST /orders", condition: request.body.amount < 100 }
response_masks:
  - api_pattern: /mine/*
    fields:
      - { name: sha256, condition: user.role == "auditor", mask_type: full }
websocket_policies:
  - connection: { path: /chat, condition: user.id == "ada" }
    message_types:
      - { type: hello, condition: true }
`;

describe("deploy: Istio's sidecar with the EnvoyFilter", function () {
  this.timeout(120_000);
  const children: ChildProcess[] = [];
  let application: FrontApplication;
  let issuer: TestIssuer;
  let folder: string;
  let listen: number;
  let admin: number;
  let patches: readonly ConfigPatch[];
  let authorization: string;

  const start = async (program: string, args: readonly string[], isReady: (stdout: string) => unknown) => {
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    await eventually(`${program} is ready`, async () => {
      if (child.exitCode !== null) throw new Hopeless(`it ended: ${stderr}`);
      return Boolean(await isReady(stdout));
    });
  };

  before(async () => {
    [application, issuer, folder] = await Promise.all([
      startFrontApplication("orders"),
      startIssuer(),
      temporaryDirectory(),
    ]);
    authorization = `Bearer ${await issuer.token({ sub: "ada" })}`;
    const [authz, telemetry] = [await freePort(), await freePort()];
    [listen, admin] = [await freePort(), await freePort()];
    await mkdir(join(folder, "policies"));
    await writeFile(join(folder, "policies/default.yaml"), POLICIES);
    const config = join(folder, "gateway.yaml");
    await writeFile(
      config,
      dump({
        gateway: { backend: application.url, cluster: { nodes: 1 } },
        authz: { listen: `127.0.0.1:${authz}`, state_directory: "connections", decision_timeout: "15s" },
        identity: { issuer: issuer.url, audience: issuer.audience },
        policies: { directory: "policies" },
        audit: { destination: "file", path: "audit.log" },
        telemetry: { port: telemetry },
      }),
    );
    const { stdout: printed } = await run(process.execPath, [CLI, "envoy-config", "--config", config], {
      maxBuffer: 1e8,
    });
    const place = ["--namespace", "shop", "--app", "orders", "--port", String(application.port)];
    const made = run(process.execPath, [SCRIPT, ...place], { maxBuffer: 1e8 });
    made.child.stdin?.end(printed);
    const filter = JSON.parse((await made).stdout) as { spec: { configPatches: ConfigPatch[] } };
    patches = filter.spec.configPatches;
    const bootstrap = applyPatches(sidecarBootstrap({ listen, port: application.port, admin }), patches);
    const file = join(folder, "envoy.json");
    await writeFile(file, JSON.stringify(bootstrap));
    const envoy = await envoyBinary();
    await run(envoy, ["--mode", "validate", "-c", file]);
    await start(process.execPath, [CLI, "authz", "--config", config], (stdout) =>
      stdout.includes("authz ready"),
    );
    const options = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];
    await start(envoy, ["-c", file, ...options], async () => {
      const { status } = await fetch(`http://127.0.0.1:${admin}/ready`);
      return status === 200 && (await sendRaw(listen, rawGet("/open/ready"))).status === 200;
    });
  });
  after(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    }
    await application.close();
    await issuer.close();
  });

  it("leaves nothing to find to gatehouse doctor", async () => {
    const dumped = await (await fetch(`http://127.0.0.1:${admin}/config_dump?include_eds`)).text();
    await writeFile(join(folder, "dump.json"), dumped);
    const doctor = [
      "doctor",
      "--config",
      "gateway.yaml",
      "--config-dump",
      "dump.json",
      "--no-probe",
      "--json",
    ];
    const { stdout } = await run(process.execPath, [CLI, ...doctor, "--fail-on", "never"], {
      ...{ cwd: folder, maxBuffer: 1e8 },
    });
    const { envoy, findings } = JSON.parse(stdout) as {
      readonly envoy: { readonly filter_chains: readonly string[] };
      readonly findings: readonly {
        readonly code: string;
        readonly where: string;
        readonly detail: string;
      }[];
    };
    assert.equal(envoy.filter_chains.length, 1);
    assert.deepEqual(findings, []);
  });

  const ask = async (path: string, headers: readonly string[] = []) => {
    const { status, body } = await sendRaw(listen, rawGet(path, headers));
    return { status, body };
  };

  it("permits and denies, by the caller that the connection has", async () => {
    assert.equal((await ask("/open/x")).status, 200);
    assert.equal((await ask("/mine/x")).status, 401);
    assert.equal((await ask("/other", [`Authorization: ${authorization}`])).status, 403);
    // what a sidecar usually believes
    const forged = ["X-Forwarded-For: 192.0.2.1", "X-User-Id: eve"];
    const { status, body } = await ask("/mine/x", [`Authorization: ${authorization}`, ...forged]);
    assert.equal(status, 200);
    assert.match(body, /"x-user-id":"ada"/);
  });

  it("masks responses", async () => {
    const { body } = await ask("/mine/x", [`Authorization: ${authorization}`]);
    assert.match(body, /"sha256":"\*+"/);
    assert.match((await ask("/open/x")).body, /"sha256":"[0-9a-f]{64}"/);
  });

  it("decides with the body where a rule reads it", async () => {
    const post = (amount: number) =>
      new Promise<number>((resolve, reject) => {
        const headers = { host: "app.test", "content-type": "application/json" };
        const call = request(
          { host: "127.0.0.1", port: listen, path: "/orders", method: "POST", headers, agent: false },
          (response) => {
            response.resume().on("end", () => {
              resolve(response.statusCode ?? 0);
            });
          },
        );
        call.on("error", reject);
        call.end(JSON.stringify({ amount }));
      });
    assert.deepEqual([await post(10), await post(1000)], [200, 403]);
  });

  it("checks WebSocket messages", async () => {
    const client = await connectSocket(`ws://127.0.0.1:${listen}/chat`, { headers: { authorization } });
    client.socket.send(JSON.stringify({ type: "forbidden" }));
    client.socket.send(JSON.stringify({ type: "hello" }));
    await client.message("the answer", (text) => text.includes('"ada"'));
    assert.ok(!client.messages.some((text) => text.includes('"forbidden","user"')));
    client.close();
    assert.equal((await connectSocket(`ws://127.0.0.1:${listen}/chat`)).refusal(), 401);
  });

  it("upgrades no request whose messages nobody would check", async () => {
    const lines = [
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    const raw = ["POST /open/x HTTP/1.1", "Host: app.test", "Connection: upgrade", ...lines, "", ""].join(
      "\r\n",
    );
    assert.notEqual((await sendRaw(listen, raw)).status, 101);
  });

  it("does not normalize: an ambiguous path is refused", async () => {
    assert.equal((await ask("/open/../mine/x")).status, 400);
  });

  it("each filter is one that Envoy accepts", async () => {
    const filters = patches.filter(({ applyTo }) => applyTo === "HTTP_FILTER");
    assert.ok(filters.length >= 10);
    const kept = patches.filter(({ applyTo }) => applyTo === "CLUSTER");
    for (const { patch, applyTo, match } of filters) {
      const alone = applyPatches(sidecarBootstrap({ listen, port: application.port, admin }), [
        ...kept,
        { applyTo, match, patch },
      ]);
      const file = join(folder, "alone.json");
      await writeFile(file, JSON.stringify(alone));
      await run(await envoyBinary(), ["--mode", "validate", "-c", file, "--log-level", "error"]);
    }
  });
});
