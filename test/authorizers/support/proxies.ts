import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening } from "../../support/is-listening.ts";

export interface Ports {
  readonly authz: number;
  readonly app: number;
}

/** A real proxy that asks for decisions, as docs/deployment describes it. */
export interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

export const isInstalled = (program: string) => spawnSync(program, ["-v"]).error === undefined;

export async function startNginx({ authz, app }: Ports): Promise<Proxy> {
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), "gatehouse-nginx-")), freePort()]);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(" ");
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
  access_log off; ${temporary}
  server {
    listen 127.0.0.1:${port};
    location / {
      auth_request /_authz;
      auth_request_set $user_id $upstream_http_x_user_id;
      proxy_set_header X-User-Id $user_id;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $host;
      proxy_pass http://127.0.0.1:${app};
    }
    location = /_authz {
      internal;
      proxy_pass http://127.0.0.1:${authz}/nginx;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Original-Request $request;
      proxy_set_header X-Original-Host $host;
      proxy_set_header X-Original-Scheme $scheme;
      proxy_set_header X-Original-Address $remote_addr;
      proxy_set_header X-Original-Connection "=$http_connection";
      proxy_set_header X-Original-Upgrade "=$http_upgrade";
    }
  }
}
`,
  );
  return run("nginx", ["-e", join(folder, "error.log"), "-p", folder, "-c", file], folder, port);
}

async function run(program: string, args: string[], folder: string, port: number): Promise<Proxy> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
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
