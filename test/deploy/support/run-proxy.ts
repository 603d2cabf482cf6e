import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, Hopeless } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening } from "../../support/is-listening.ts";
import { selfSigned } from "../../gateway/support/certificate.ts";
import { deployFile } from "./deploy-file.ts";

export type FrontProgram = "nginx" | "haproxy" | "caddy";

export interface FrontPorts {
  readonly gateway: number;
  /** The application that is the default, and the one of shop.example.com. */
  readonly applications: readonly [number, number];
  /** In place of app.example.com. */
  readonly host?: string;
}

export interface FrontProxy {
  readonly port: number;
  stop(): Promise<void>;
}

export interface Place extends Required<FrontPorts> {
  readonly folder: string;
  readonly port: number;
}

/** The configurations in deploy, with other ports and folders, and how a test runs each. */
const PROGRAMS: Readonly<
  Record<
    FrontProgram,
    {
      readonly configure: (place: Place) => string;
      readonly command: (file: string, folder: string) => readonly string[];
    }
  >
> = {
  nginx: {
    configure: ({ folder, port, ...ports }) => {
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      );
      return `daemon off; pid ${folder}/pid; error_log stderr error; ${process.getuid?.() === 0 ? "user root;" : ""}
${deployFile("nginx/front-proxy.conf", {
  ...placesOf(ports),
  "app.example.com": ports.host,
  "worker_processes auto": "worker_processes 1",
  "http {\n": `http {\naccess_log off; ${temporary.join(" ")}\n`,
  "listen 443": `listen 127.0.0.1:${port}`,
  "/etc/nginx/site": join(folder, "site"),
})}`;
    },
    command: (file, folder) => ["nginx", "-e", "stderr", "-p", folder, "-c", file],
  },
  haproxy: {
    configure: ({ folder, port, ...ports }) =>
      deployFile("haproxy/front-proxy.cfg", {
        ...placesOf(ports),
        "bind :443": `bind 127.0.0.1:${port}`,
        "/etc/haproxy/site": join(folder, "site"),
      }),
    command: (file) => ["haproxy", "-db", "-f", file],
  },
  caddy: {
    configure: ({ folder, port, ...ports }) =>
      deployFile("caddy/front-proxy.Caddyfile", {
        ...placesOf(ports),
        "app.example.com": ports.host,
        "{\n\tservers": `{\n\tadmin off\n\thttps_port ${port}\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n\tservers`,
        "/etc/caddy/site": join(folder, "site"),
      }),
    command: (file) => ["caddy", "run", "--config", file, "--adapter", "caddyfile"],
  },
};

function placesOf({ gateway, applications: [first, second] }: FrontPorts): Readonly<Record<string, string>> {
  return {
    "127.0.0.1:8000": `127.0.0.1:${gateway}`,
    "127.0.0.1:3000": `127.0.0.1:${first}`,
    "127.0.0.1:3001": `127.0.0.1:${second}`,
  };
}

/** The configuration of `deploy`, with other ports and folders. */
export function frontConfiguration(program: FrontProgram, place: Place): string {
  return PROGRAMS[program].configure(place);
}

/** Runs the configuration of `deploy` in front of a gateway. */
export async function startFrontProxy(program: FrontProgram, ports: FrontPorts): Promise<FrontProxy> {
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), "gatehouse-front-")), freePort()]);
  const { host = "app.example.com" } = ports;
  const { certificate, privateKey } = selfSigned(host);
  const { configure, command } = PROGRAMS[program];
  const file = join(folder, "proxy.conf");
  await writeFile(join(folder, "site.key"), privateKey);
  // HAProxy takes both from one file
  await writeFile(join(folder, "site.pem"), program === "haproxy" ? certificate + privateKey : certificate);
  await writeFile(file, configure({ ...ports, host, folder, port }));
  const [name = program, ...args] = command(file, folder);
  const child = spawn(name, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await eventually(`${program} listens`, () => {
    if (child.exitCode !== null) throw new Hopeless(`${program} ended: ${said}`);
    return isListening(port);
  });
  return {
    port,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, "exit");
        child.kill(program === "haproxy" ? "SIGINT" : "SIGTERM");
        await exit;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
