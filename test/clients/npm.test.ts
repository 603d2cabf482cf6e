import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);

const POLICIES = `
policies:
  - { resource: "GET /{package}", condition: 'path.package.startsWith("@acme/") and user.role == "developer"' }
  - { resource: "PUT /{package}", condition: 'path.package == "@acme/widgets" and user.role == "developer"' }
  - { resource: "GET /tarballs/{file}", condition: user.role == "developer" }
`;
const ACCEPTED = [{ path: "/{package}", checks: ["encoded_slash"], reading: "kept" }];

interface Published {
  readonly name: string;
  readonly versions: Record<string, { dist: { tarball: string } }>;
  readonly _attachments?: Record<string, { readonly data: string }>;
}

interface Registry {
  readonly url: string;
  readonly seen: readonly string[];
  readonly server: Server;
}

/**
 * A registry as small as npm accepts it, which keeps packages by their path as npm encodes it.
 *
 * @param origin - where npm finds the archives
 */
function startRegistry(origin: () => string): Promise<Registry> {
  const packages = new Map<string, Published>();
  const archives = new Map<string, Buffer>();
  const seen: string[] = [];

  function publish(path: string, { _attachments: attachments = {}, ...document }: Published): void {
    for (const { data } of Object.values(attachments)) {
      const bytes = Buffer.from(data, "base64");
      const place = `/tarballs/${createHash("sha1").update(bytes).digest("hex")}.tgz`;
      archives.set(place, bytes);
      for (const { dist } of Object.values(document.versions)) dist.tarball = `${origin()}${place}`;
    }
    packages.set(path, document);
  }

  const server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    seen.push(`${method} ${url}`);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const archive = archives.get(url);
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (method === "PUT") {
        publish(url, JSON.parse(Buffer.concat(chunks).toString()) as Published);
        answer(201, { ok: true });
      } else if (archive !== undefined) response.writeHead(200).end(archive);
      else answer(packages.has(url) ? 200 : 404, packages.get(url) ?? {});
    });
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server });
    }),
  );
}

describe("clients: npm publishes and installs a scoped package through the gateway", function () {
  this.timeout(120_000);
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let strict: RunningGateway;
  let registry: Registry;
  let folder: string;

  before(async () => {
    registry = await startRegistry(() => gateway.url);
    issuer = await startIssuer();
    const start = (accept_ambiguous: readonly object[]) =>
      startGateway({
        backend: registry.url,
        issuer,
        policies: { "default.yaml": POLICIES },
        config: { gateway: { accept_ambiguous } },
      });
    [gateway, strict] = await Promise.all([start(ACCEPTED), start([])]);
    folder = await temporaryDirectory();
  });
  after(async () => {
    await Promise.all([gateway.stop(), strict.stop(), issuer.close()]);
    registry.server.closeAllConnections();
    registry.server.close();
  });

  /** Runs npm in a folder of its own, with a registry and the token of a developer. */
  async function npm(name: string, at: RunningGateway, content: object, ...args: readonly string[]) {
    const cwd = join(folder, name);
    await mkdir(cwd, { recursive: true });
    await writeFile(join(cwd, "package.json"), JSON.stringify(content));
    const token = await issuer.token({ role: "developer" });
    const { host } = new URL(at.url);
    await writeFile(join(cwd, ".npmrc"), `registry=${at.url}/\n//${host}/:_authToken=${token}\n`);
    const options = ["--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=0"];
    const env = { npm_config_cache: join(folder, "cache"), npm_config_userconfig: join(cwd, "none") };
    await run("npm", [...args, ...options], { cwd, env: { ...process.env, ...env } });
    return cwd;
  }

  const widgets = (name: string) => ({ name, version: "1.0.0" });
  const publish = (folder: string, name: string) =>
    npm(folder, gateway, widgets(name), "publish", "--access", "public");

  it("with the entry that docs/compatibility.md has for it", async () => {
    await publish("published", "@acme/widgets");
    assert.ok(registry.seen.includes("PUT /@acme%2fwidgets"), registry.seen.join("\n"));
    const user = await npm("user", gateway, { name: "user" }, "install", "@acme/widgets");
    assert.ok(registry.seen.includes("GET /@acme%2fwidgets"), registry.seen.join("\n"));
    const installed = await readFile(join(user, "node_modules/@acme/widgets/package.json"), "utf8");
    assert.equal((JSON.parse(installed) as { version: string }).version, "1.0.0");
  });

  it("the rule sees the whole name: another scope, and another package, are denied", async () => {
    const before = registry.seen.length;
    await assert.rejects(publish("other", "@other/widgets"), /E403/);
    await assert.rejects(publish("another", "@acme/gadgets"), /E403/);
    const written = registry.seen.slice(before).filter((line) => line.startsWith("PUT"));
    assert.deepEqual(written, []);
  });

  it("without the entry, nothing of it reaches the registry", async () => {
    const before = registry.seen.length;
    await assert.rejects(npm("strict", strict, { name: "user" }, "install", "@acme/widgets"), /E400/);
    assert.deepEqual(registry.seen.slice(before), []);
  });
});
