import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, Hopeless } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening } from "../../support/is-listening.ts";
import { selfSigned } from "../../gateway/support/certificate.ts";

/** The address from which the proxies of these tests connect to the gateway. */
export const PROXY_ADDRESS = "127.0.0.2";
export const PUBLIC_HOST = "app.example.com";

export interface RunningProxy {
  /** By the names that the configuration gave. */
  readonly ports: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** Whether a program is on the PATH; where it is not, says so. */
export function isInstalled(program: "nginx" | "haproxy"): boolean {
  const { error } = spawnSync(program, ["-v"]);
  if (error === undefined) return true;
  process.stdout.write(`${program} is not installed: its tests are skipped\n`);
  return false;
}

interface ProxyFiles {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
  /** Certificate and key in one file. */
  readonly both: string;
}

/**
 * Runs a proxy until `stop`.
 *
 * @param frontends - names of its ports
 * @param configuration - with its files and ports
 */
async function startProxy(
  frontends: readonly string[],
  command: (file: string, folder: string) => readonly [program: string, ...args: string[]],
  configuration: (files: ProxyFiles, ports: Readonly<Record<string, number>>) => string,
): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), "gatehouse-proxy-"));
  const { certificate, privateKey } = selfSigned(PUBLIC_HOST);
  const files = {
    folder,
    certificate: join(folder, "certificate.pem"),
    key: join(folder, "key.pem"),
    both: join(folder, "both.pem"),
  };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, privateKey);
  await writeFile(files.both, `${certificate}\n${privateKey}`);
  const ports = Object.fromEntries(
    await Promise.all(frontends.map(async (name) => [name, await freePort()] as const)),
  );
  const file = join(folder, "proxy.conf");
  await writeFile(file, configuration(files, ports));
  const [program, ...args] = command(file, folder);
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  for (const [name, port] of Object.entries(ports))
    await eventually(`${program} listens for ${name}`, async () => {
      if (child.exitCode !== null) throw new Hopeless(`${program} ended: ${stderr}`);
      return isListening(port);
    });
  return {
    ports,
    async stop() {
      await stopped(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

/** A server of an nginx, and where it sends its requests. */
interface NginxServer {
  readonly tls?: boolean;
  readonly to: number;
  /** The address that its requests come from. */
  readonly from?: string;
  /** More directives. Without any, it says nothing of its own, as a bare `proxy_pass` does, and so speaks HTTP/1.0. */
  readonly directives?: string;
}

/** Runs nginx with these servers. */
export function startNginxServers(servers: Readonly<Record<string, NginxServer>>): Promise<RunningProxy> {
  const command = (file: string, folder: string) => ["nginx", "-p", folder, "-c", file] as const;
  return startProxy(Object.keys(servers), command, ({ folder, certificate, key }, ports) => {
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      .join(" ");
    const written = Object.entries(servers).map(
      ([name, { tls = false, to, from = PROXY_ADDRESS, directives = "" }]) => `
        server {
          listen 127.0.0.1:${String(ports[name])}${tls ? " ssl" : ""};
          location / { proxy_pass http://127.0.0.1:${String(to)}; proxy_bind ${from}; ${directives} }
        }`,
    );
    return `
      ${process.getuid?.() === 0 ? "user root;" : ""}
      daemon off; master_process off; pid ${folder}/pid; error_log stderr error;
      events {}
      http {
        access_log off; ${temporary}
        ssl_certificate ${certificate}; ssl_certificate_key ${key};
        map $http_forwarded $sent_forwarded { "" ""; default "$http_forwarded, "; }
        ${written.join("")}
      }`;
  });
}

/** What nginx is usually told to say. */
export const USUAL_HEADERS = `proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host;`;

/**
 * nginx with three servers: `plain` says nothing of its own; `tls` sets the usual headers and speaks HTTP/1.0, too; `tls11` is
 * the same over HTTP/1.1.
 */
export function startNginx(to: number): Promise<RunningProxy> {
  return startNginxServers({
    plain: { to },
    tls: { tls: true, to, directives: USUAL_HEADERS },
    tls11: { tls: true, to, directives: `${USUAL_HEADERS} proxy_http_version 1.1;` },
  });
}

/** HAProxy behind another proxy: it appends the address of that one to X-Forwarded-For, and leaves all else as it is. */
export function startHaproxyHop(to: number): Promise<RunningProxy> {
  const command = (file: string) => ["haproxy", "-db", "-f", file] as const;
  return startProxy(
    ["hop"],
    command,
    (_files, ports) => `
defaults
mode http
timeout connect 10s
timeout client 60s
timeout server 60s
frontend hop
bind 127.0.0.1:${String(ports["hop"])}
option forwardfor
default_backend next
backend next
server next 127.0.0.1:${String(to)} source ${PROXY_ADDRESS}
`,
  );
}

/** The gateways behind HAProxy, by their `gateway.proxy_protocol`. */
export interface GatewayPorts {
  readonly off: number;
  readonly http: number;
  readonly tcp: number;
}

/**
 * HAProxy with three frontends: `tls` sets the usual headers; `v2` sets them without addresses and sends a PROXY header of
 * version 2; `tcp` forwards bytes after one of version 1.
 */
export function startHaproxy(gateways: GatewayPorts): Promise<RunningProxy> {
  const command = (file: string) => ["haproxy", "-db", "-f", file] as const;
  return startProxy(["tls", "v2", "tcp"], command, ({ both }, ports) => {
    const frontend = (name: string, ...lines: readonly string[]) =>
      [`frontend ${name}`, `bind 127.0.0.1:${String(ports[name])}${name === "tcp" ? "" : ` ssl crt ${both}`}`]
        .concat(lines, `default_backend to_${name}`, `backend to_${name}`)
        .concat(name === "tcp" ? "mode tcp" : "mode http")
        .join("\n");
    const server = (port: number, how = "") =>
      `server gateway 127.0.0.1:${String(port)} source ${PROXY_ADDRESS} ${how}`;
    const headers = [
      "http-request set-header X-Forwarded-Proto https",
      "http-request set-header X-Forwarded-Host %[req.hdr(host)]",
    ];
    return `
defaults
mode http
timeout connect 10s
timeout client 60s
timeout server 60s
${frontend("tls", "option forwardfor", "http-request del-header X-Real-IP", ...headers)}
${server(gateways.off)}
${frontend("v2", ...headers)}
${server(gateways.http, "send-proxy-v2")}
${frontend("tcp", "mode tcp")}
${server(gateways.tcp, "send-proxy")}
`;
  });
}
