import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { envoyBinary } from "../../support/envoy.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening } from "../../support/is-listening.ts";
import { deployFile, deployText } from "../../deploy/support/deploy-file.ts";
import { guideBlock, withPlaces } from "./guide.ts";

export interface Ports {
  /** Those of two workers. */
  readonly authz: readonly [number, number];
  readonly app: number;
}

/** A real proxy that asks for decisions, configured as in deploy and, word for word, in docs/deployment. */
export interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** @param changed - texts of the configuration that differ */
export async function startNginx(
  ports: Ports,
  changed: Readonly<Record<string, string>> = {},
): Promise<Proxy> {
  const { folder, port } = await placeFor("nginx");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(" ");
  const configuration = deployFile("nginx/auth-request.conf", {
    ...placesOf(ports),
    "worker_processes auto": "worker_processes 1",
    "http {\n": `http {\naccess_log off; ${temporary}\n`,
    "listen 8000": `listen 127.0.0.1:${port}`,
    ...changed,
  });
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;\n${configuration}`,
  );
  return run("nginx", ["-e", join(folder, "error.log"), "-p", folder, "-c", file], folder, port);
}

export async function startCaddy(ports: Ports): Promise<Proxy> {
  const { folder, port } = await placeFor("caddy");
  const configuration = deployFile("caddy/forward-auth.Caddyfile", {
    ...placesOf(ports),
    ":8000 {": `:${port} {\n  bind 127.0.0.1`,
  });
  const file = join(folder, "Caddyfile");
  await writeFile(file, `{\n  admin off\n  auto_https off\n}\n${configuration}`);
  return run("caddy", ["run", "--config", file, "--adapter", "caddyfile"], folder, port);
}

export const startEnvoy = (ports: Ports): Promise<Proxy> =>
  runEnvoy("envoy-http", ["port_value: 9292", "port_value: 9293"], ports);

export const startGrpcEnvoy = (ports: Ports): Promise<Proxy> =>
  runEnvoy("envoy-grpc", ["port_value: 9191", "port_value: 9192"], ports);

async function runEnvoy(page: string, workers: readonly [string, string], ports: Ports): Promise<Proxy> {
  const { folder, port } = await placeFor("envoy");
  const block = withPlaces(guideBlock(page, "envoy"), {
    [workers[0]]: `port_value: ${ports.authz[0]}`,
    [workers[1]]: `port_value: ${ports.authz[1]}`,
    "port_value: 3000": `port_value: ${ports.app}`,
    "address: 0.0.0.0, port_value: 8000": `address: 127.0.0.1, port_value: ${port}`,
  });
  const file = join(folder, "envoy.yaml");
  await writeFile(file, dump(load(block)));
  const options = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];
  return run(await envoyBinary(), ["-c", file, ...options], folder, port);
}

export async function startHaproxy({ authz, app }: Ports): Promise<Proxy> {
  const { folder, port } = await placeFor("haproxy");
  const agent = join(folder, "gatehouse.conf");
  const configuration = deployFile("haproxy/spoe.cfg", {
    "127.0.0.1:9392": `127.0.0.1:${authz[0]}`,
    "127.0.0.1:9393": `127.0.0.1:${authz[1]}`,
    "127.0.0.1:3000": `127.0.0.1:${app}`,
    "bind :8000": `bind 127.0.0.1:${port}`,
    "/etc/haproxy/gatehouse.conf": agent,
  });
  await writeFile(agent, deployText("haproxy/gatehouse.conf"));
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, configuration);
  return run("haproxy", ["-db", "-f", file], folder, port);
}

async function placeFor(name: string): Promise<{ readonly folder: string; readonly port: number }> {
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), `gatehouse-${name}-`)), freePort()]);
  return { folder, port };
}

function placesOf({ authz, app }: Ports): Readonly<Record<string, string>> {
  return {
    "127.0.0.1:9292": `127.0.0.1:${authz[0]}`,
    "127.0.0.1:9293": `127.0.0.1:${authz[1]}`,
    "127.0.0.1:3000": `127.0.0.1:${app}`,
  };
}

async function run(program: string, args: string[], folder: string, port: number): Promise<Proxy> {
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await eventually(`${program} listens`, () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    return isListening(port);
  });
  return {
    port,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
