import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { rm, writeFile } from "node:fs/promises";
import { envoyBinary } from "../support/envoy.ts";
import { eventually } from "../support/eventually.ts";
import { startIssuer } from "../support/providers/issuer.ts";
import { CLI, folderOf, gatehouse, type Folder } from "./support.ts";

const run = promisify(execFile);

const POLICIES = `policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /api/customers/{id}", condition: exists(user.id) }
response_masks:
  - api_pattern: /api/customers/*
    fields:
      - { name: card_number, condition: user.role != "billing", mask_type: partial }
graphql_policies:
  - { query: customers, condition: user.role == "admin" and user.customer_id == "cus_own" }
`;
const CONFIG = `gateway:
  backend: http://127.0.0.1:1
identity:
  issuer: http://127.0.0.1:1
  audience: test-api
`;

describe("cli: what runs", () => {
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderOf({ "gateway.yaml": CONFIG, "policies/default.yaml": POLICIES });
  });
  afterEach(() => folder.remove());

  const cli = (...args: string[]) => gatehouse(args, { cwd: folder.path });

  describe("configuration", () => {
    const broken = `gateway:
  lisen_port: 8000
  backend: 7
identity:
  issuer: somewhere
`;
    for (const command of ["gateway", "authz", "envoy-config"]) {
      it(`stops \`${command}\` with all that is wrong, each with its place, and the nearest key`, async () => {
        await folder.add({ "broken.yaml": broken });
        const { code, stdout, stderr } = await cli(command, "--config", "broken.yaml");
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, /broken\.yaml:2:3: `gateway\.lisen_port` is not a key/);
        assert.match(stderr, /^ 2 \| {3}lisen_port: 8000\n {3}\| {3}\^{10}$/m);
        assert.match(stderr, /did you mean `listen_port`\?/);
        assert.match(stderr, /broken\.yaml:3:\d+: `gateway\.backend`/);
        assert.match(stderr, /broken\.yaml:5:\d+: `identity\.issuer` must be an http or https URL/);
      });
    }
    it("says that the file is not there", async () => {
      const { code, stderr } = await cli("gateway", "--config", "nowhere.yaml");
      assert.equal(code, 2);
      assert.match(stderr, /nowhere\.yaml/);
    });
    it("wants a backend for `gateway`, in gateway.yaml where no file is named", async () => {
      await folder.add({ "gateway.yaml": CONFIG.replace(/gateway:\n.*\n/, "") });
      const { code, stderr } = await cli("gateway");
      assert.equal(code, 2);
      assert.match(stderr, /gateway\.yaml.*`gateway\.backend` is missing/);
    });
  });

  describe("envoy-config", () => {
    it("prints a bootstrap that Envoy takes", async () => {
      const { code, stdout, stderr } = await cli("envoy-config");
      assert.deepEqual([code, stderr], [0, ""]);
      const path = join(folder.path, "envoy.json");
      await writeFile(path, JSON.stringify(JSON.parse(stdout)));
      const valid = await run(await envoyBinary(), ["--mode", "validate", "-c", path]);
      assert.match(`${valid.stdout}${valid.stderr}`, /configuration '.*' OK/);
      await writeFile(path, stdout.replace('"static_resources"', '"static_resource"'));
      await assert.rejects(run(await envoyBinary(), ["--mode", "validate", "-c", path]));
    });
  });

  describe("authz", () => {
    /** Starts the service, waits until `seen` is on stderr and the service is ready, and stops it. */
    const startAndStop = async (config: string, seen: RegExp) => {
      await folder.add({ "authz.yaml": config });
      const child = spawn(process.execPath, [CLI, "authz", "--config", "authz.yaml"], {
        cwd: folder.path,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      try {
        await eventually(`${String(seen)} in ${stderr}`, () => seen.test(stderr));
        await eventually("the ready line", () => stdout.includes("ready on"));
      } finally {
        child.kill("SIGTERM");
      }
      return { code: await ended, stdout, stderr };
    };
    const config = (issuer: string) => `identity:
  issuer: ${issuer}
  audience: test-api
gateway:
  cluster: { nodes: 1 }
authz: { listen: "unix:authz.sock", drain_timeout: 1s }
telemetry: { port: 0 }
audit: { destination: file, path: audit.log }
`;

    it("is ready, and ends at SIGTERM with 0", async () => {
      const issuer = await startIssuer();
      try {
        const { code, stdout, stderr } = await startAndStop(config(issuer.url), /policy set in force/);
        assert.match(stdout, /^gatehouse authz ready on \S+\n$/);
        assert.equal(code, 0, stderr);
      } finally {
        await issuer.close();
      }
    });
  });

  describe("a start that cannot come to anything", () => {
    let taken: Server;
    let port: number;
    const { ENVOY_BIN: envoyBefore } = process.env;
    before(async () => {
      process.env["ENVOY_BIN"] = await envoyBinary();
      taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
      ({ port } = taken.address() as AddressInfo);
    });
    after(() => {
      if (envoyBefore === undefined) delete process.env["ENVOY_BIN"];
      else process.env["ENVOY_BIN"] = envoyBefore;
      taken.close();
    });
    const inUse = (setting: string) => `gatehouse: ${setting}: 127.0.0.1:${port} is in use by `;
    const cases: Readonly<Record<string, readonly [command: string, config: () => string, () => string]>> = {
      "the port of the gateway is taken": [
        "gateway",
        () => `gateway: { backend: "http://127.0.0.1:1", listen_address: 127.0.0.1, listen_port: ${port} }`,
        () => inUse("gateway.listen_port"),
      ],
      "the port of Envoy's admin interface is taken": [
        "gateway",
        () => `gateway: { backend: "http://127.0.0.1:1", listen_port: 0, envoy_admin: "127.0.0.1:${port}" }`,
        () => inUse("gateway.envoy_admin"),
      ],
      "the port of metrics is taken": [
        "authz",
        () => `telemetry: { port: ${port} }\nauthz: { listen: "unix:authz.sock" }`,
        () => inUse("telemetry.port"),
      ],
      "the port of the service is taken": [
        "authz",
        () => `authz: { listen: "127.0.0.1:${port}" }`,
        () => inUse("authz.listen"),
      ],
      "the port of the control plane's metrics is taken": [
        "control-plane",
        () => `telemetry: { control_plane_port: ${port} }`,
        () => inUse("telemetry.control_plane_port"),
      ],
      "the port of the API is taken": [
        "control-plane",
        () => `api: { port: ${port}, sandbox_port: 0 }\ntelemetry: { control_plane_port: 0 }`,
        () => inUse("api.port"),
      ],
      "the port of the sandbox is taken": [
        "control-plane",
        () => `api: { port: 0, sandbox_port: ${port} }\ntelemetry: { control_plane_port: 0 }`,
        () => inUse("api.sandbox_port"),
      ],
      "the audit file has no folder": [
        "authz",
        () => `audit: { destination: file, path: nowhere/audit.log }`,
        () =>
          `gatehouse: audit.path: cannot write \`${folder.path}/nowhere/audit.log\`: its folder does not exist`,
      ],
      "the access log has no folder": [
        "gateway",
        () => `gateway: { backend: "http://127.0.0.1:1", listen_port: 0, access_log: nowhere/access.log }`,
        () =>
          `gatehouse: gateway.access_log: cannot write \`${folder.path}/nowhere/access.log\`: its folder does not exist`,
      ],
      "the access log is a folder": [
        "gateway",
        () => `gateway: { backend: "http://127.0.0.1:1", listen_port: 0, access_log: ./policies }`,
        () => `gatehouse: gateway.access_log: cannot write \`${folder.path}/policies\`: it is a folder`,
      ],
      "the spool of records is no folder": [
        "authz",
        () =>
          "audit: { destination: control_plane, spool_directory: gateway.yaml }\n" +
          'control_plane: { url: "http://127.0.0.1:1", api_key: k }',
        () =>
          `gatehouse: audit.spool_directory: cannot write \`${folder.path}/gateway.yaml\`: it is not a folder`,
      ],
      "the audit file is a folder": [
        "authz",
        () => `audit: { destination: file, path: policies }`,
        () => `gatehouse: audit.path: cannot write \`${folder.path}/policies\`: it is a folder`,
      ],
    };
    for (const [name, [command, config, expected]] of Object.entries(cases)) {
      it(`is refused in one line: ${name}`, async () => {
        const identity =
          command === "control-plane" ? "" : "identity: { issuer: http://127.0.0.1:1, audience: a }\n";
        await folder.add({ "gateway.yaml": `${identity}${config()}\n` });
        const { code, stdout, stderr } = await cli(command);
        assert.deepEqual([code, stdout], [1, ""], stderr);
        // what is logged before is JSON
        const lines = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
        assert.equal(lines.length, 1, stderr);
        assert.ok(lines[0]?.startsWith(expected()), stderr);
      });
    }
  });

  describe("a policy set that permits by a role alone", () => {
    it("is warned about at start where a control plane is followed, as by `policy validate --config`", async () => {
      // a key file that is not there ends the start right after
      const start = async (control_plane: string) => {
        await folder.add({
          "gateway.yaml": `${CONFIG}authz: { listen: "unix:authz.sock" }\n${control_plane}\n`,
          "policies/default.yaml": `policies:\n  - { resource: GET /x, condition: 'user.role == "admin"' }\n`,
        });
        return (await cli("authz")).stderr;
      };
      const followed = 'control_plane: { url: "http://127.0.0.1:1", api_key_file: nowhere.key }';
      assert.match(await start(followed), /default\.yaml:2:.*warning: .*\[role-without-customer\]/);
      assert.doesNotMatch(await start("audit: { destination: file, path: nowhere/a.log }"), /warning/);
    });
  });

  describe("a broken policy set", () => {
    it("is said by `gateway` before it looks for anything else", async () => {
      // an Envoy that is no program ends the start right after
      const gateway = (policies: string) => {
        return new Promise<string>((resolve) => {
          void folder.add({ "policies/default.yaml": policies }).then(() => {
            const child = spawn(process.execPath, [CLI, "gateway"], {
              cwd: folder.path,
              env: { ...process.env, ENVOY_BIN: join(folder.path, "no-envoy") },
              stdio: ["ignore", "ignore", "pipe"],
            });
            let stderr = "";
            child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
            child.once("close", (code) => {
              resolve(`${stderr}\nexit ${code ?? "by signal"}`);
            });
          });
        });
      };
      const broken = await gateway("policies:\n  - { resource: GET /x, conditon: 'true' }\n");
      assert.match(broken, /default\.yaml:2:\d+: error: .*`conditon`/);
      assert.match(broken, /^the policy set has errors; fix them: /m);
      const fine = await gateway('policies:\n  - { resource: GET /x, condition: "true" }\n');
      assert.doesNotMatch(fine, / error: |the policy set has errors/);
    });
  });

  describe("policies from the control plane", () => {
    it("are not looked for in the folder, of which nothing is said", async () => {
      await folder.add({
        "gateway.yaml": `${CONFIG}policies: { source: control_plane, directory: nowhere }
control_plane: { url: "http://127.0.0.1:1", api_key_file: nowhere.key }
`,
      });
      const { code, stderr } = await cli("authz");
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `gatehouse: control_plane.api_key_file: cannot read \`${folder.path}/nowhere.key\`: no such file\n`,
      );
    });
    for (const [what, text, said] of [
      ["nothing", "\n", "the API key is empty"],
      ["two words", "Bearer secret-key", "the API key is malformed: it must be one word of ASCII characters"],
    ] as const)
      it(`need a key: a file with ${what} is refused in one line that does not repeat it`, async () => {
        await folder.add({
          "gateway.yaml": `${CONFIG}control_plane: { url: "http://127.0.0.1:1", api_key_file: gateway.key }\n`,
          "gateway.key": text,
        });
        const { code, stderr } = await cli("authz");
        assert.deepEqual(
          [code, stderr],
          [1, `gatehouse: control_plane.api_key_file: \`${folder.path}/gateway.key\`: ${said}\n`],
        );
      });
  });

  describe("inputs of records", () => {
    it("need a key for hashes: a short one is refused in one line that does not repeat it", async () => {
      await folder.add({
        "gateway.yaml": `${CONFIG}audit: { inputs: true, inputs_others: hash, inputs_key_file: inputs.key }\n`,
        "inputs.key": "short-key\n",
      });
      const start = async () => {
        const { code, stderr } = await cli("authz");
        return [code, stderr];
      };
      const file = `audit.inputs_key_file: \`${folder.path}/inputs.key\``;
      assert.deepEqual(await start(), [
        1,
        `gatehouse: ${file}: the key must have at least 32 characters: write one with \`openssl rand -base64 32\`\n`,
      ]);
      await rm(join(folder.path, "inputs.key"));
      assert.deepEqual(await start(), [
        1,
        `gatehouse: audit.inputs_key_file: cannot read \`${folder.path}/inputs.key\`: no such file\n`,
      ]);
    });
  });

  describe("demo token", () => {
    it("says what it needs where nothing was started", async () => {
      const { code, stdout, stderr } = await cli("demo", "token");
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /run `gatehouse up` in this folder first/);
    });
    it("exits with 2 for a role or a lifetime that is none", async () => {
      const role = await cli("demo", "token", "--role", "root");
      assert.equal(role.code, 2);
      assert.match(role.stderr, /Allowed choices are admin, manager, support, viewer/);
      const lifetime = await cli("demo", "token", "--expires-in", "soon");
      assert.equal(lifetime.code, 2);
      assert.match(lifetime.stderr, /is not a whole number/);
    });
  });

  describe("demo application", () => {
    it("runs until it is told to end, and listens to this machine only unless told otherwise", async () => {
      const child = spawn(process.execPath, [CLI, "demo", "application", "--port", "0"], {
        cwd: folder.path,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let stdout = "";
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      await eventually("it is ready", () => stdout.includes("ready on"));
      const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? [];
      assert.equal((await fetch(`${url}/health`)).status, 200);
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      assert.deepEqual(await exit, [0, null]);
    });
    it("exits with 2 for an address that is none", async () => {
      const { code, stderr } = await cli("demo", "application", "--listen-address", "everywhere");
      assert.equal(code, 2);
      assert.match(stderr, /is not an IP address/);
    });
  });
});
