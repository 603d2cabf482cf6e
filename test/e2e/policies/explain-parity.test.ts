import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { policyExplainCommand } from "../../../src/cli/policy-explain.ts";
import { rawRequest } from "../../../src/cli/raw-request.ts";
import { gatewaySettings } from "../../../src/cli/explained-gateway.ts";
import { throughEnvoy } from "../../../src/decision/explain/through-envoy.ts";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { HANDSHAKE_HEADERS } from "../../../src/policy/suite/index.ts";
import { CLI } from "../../cli/support.ts";
import { connectClient, type TestClient } from "../../extauthz/support/client.ts";
import { checkRequest } from "../../support/check-request.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

interface Case {
  readonly sent: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly user?: keyof typeof USERS;
  readonly websocket?: true;
  readonly envoy?: true;
  readonly expect: string;
  readonly rule?: string;
}

interface Table {
  readonly policies: string;
  readonly owners: string;
  readonly accept_ambiguous: readonly (string | object)[];
  readonly cases: readonly Case[];
}

const USERS = { viewer: { id: "u-1", role: "viewer" }, admin: { id: "u-2", role: "admin" } } as const;
const TABLE = load(
  readFileSync(new URL("../../cases/explain/requests.yaml", import.meta.url), "utf8"),
) as Table;

/** What is said of a request: verdict, reason and rule, and the detail. */
interface Said {
  readonly said: readonly [outcome: string, rule: string | null];
  readonly detail: unknown;
}

/** `gatehouse authz` by itself, and its records. */
interface Service {
  readonly client: TestClient;
  audit(): Promise<AuditLine[]>;
  stop(): Promise<void>;
}

async function startService(gateway: RunningGateway): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-authz-"));
  const config = load(await readFile(join(gateway.directory, "gateway.yaml"), "utf8")) as Record<
    string,
    object
  >;
  const path = join(directory, "audit.log");
  const own = {
    ...config,
    audit: { destination: "file", path },
    // as for the gateway: the machine may be busy
    authz: { listen: `unix:${join(directory, "authz.sock")}`, decision_timeout: "15s" },
  };
  await writeFile(join(directory, "authz.yaml"), dump(own));
  const child: ChildProcess = spawn(process.execPath, [CLI, "authz", "--config", "authz.yaml"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  await eventually("the service", () => stdout.includes(" ready on "), 90_000);
  const client = connectClient(own.authz.listen);
  return {
    client,
    async audit() {
      const text = await readFile(path, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AuditLine);
    },
    async stop() {
      client.close();
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

describe("end to end: policy explain, the service and the gateway say the same", function () {
  this.timeout(240_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let service: Service;
  let directory: string;
  const tokens = new Map<string, string>();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-parity-"));
    const owners = join(directory, "owners.json");
    await writeFile(owners, TABLE.owners);
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    for (const [name, { id, role }] of Object.entries(USERS))
      tokens.set(name, await issuer.token({ sub: id, role }));
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": TABLE.policies },
      config: {
        gateway: { accept_ambiguous: TABLE.accept_ambiguous },
        policies: { environment: "parity" },
        attribute_sources: { owners: { type: "file", path: owners } },
      },
    });
    service = await startService(gateway);
  });
  after(async () => {
    await Promise.all([gateway.stop(), service.stop(), issuer.close()]);
    await upstream.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** The newest record once there is one more than before; lines about answers are no records. */
  const added = async (audit: () => Promise<AuditLine[]>, send: () => Promise<unknown>): Promise<Said> => {
    const decisions = async () => (await audit()).filter(({ event }) => event === undefined);
    const { length } = await decisions();
    await send();
    const record = await eventually("the record", async () => (await decisions())[length]);
    const rule = (record["rule"] as string | null | undefined) ?? null;
    return { said: [`${record.decision} ${record.reason}`, rule], detail: record["detail"] };
  };

  const headersOf = ({ headers = [], websocket }: Case): readonly string[] => [
    ...(websocket ? HANDSHAKE_HEADERS.map((header) => header.join(": ")) : []),
    ...headers,
  ];

  const explained = async (one: Case): Promise<Said> => {
    const config = join(gateway.directory, "gateway.yaml");
    const what = one.websocket ? ["--websocket", one.sent.slice("GET ".length)] : ["--request", one.sent];
    const args = ["--config", config, "--json", ...what];
    for (const header of one.headers ?? []) args.push("--header", header);
    if (one.body !== undefined) args.push("--body", one.body);
    if (one.user !== undefined) args.push("--user", JSON.stringify(USERS[one.user]));
    let text = "";
    await policyExplainCommand((more) => (text += more)).parseAsync(args, { from: "user" });
    const said = JSON.parse(text) as {
      readonly decision: string;
      readonly reason: string;
      readonly decided_by: string | null;
      readonly detail?: string;
    };
    return { said: [`${said.decision} ${said.reason}`, said.decided_by], detail: said.detail };
  };

  const decided = async (one: Case): Promise<Said> => {
    const loaded = loadGatewayConfig({ file: join(gateway.directory, "gateway.yaml"), env: {} });
    assert.ok(loaded.ok);
    const through = throughEnvoy(
      rawRequest(one.sent, headersOf(one), one.body),
      gatewaySettings(loaded.config).envoy,
      "127.0.0.1",
    );
    assert.ok(through.ok, "Envoy hands it over");
    const { method, target: path, host, headers, body } = through.raw;
    const token = tokens.get(one.user ?? "");
    const text = body === undefined || body.bytes.length === 0 ? undefined : Buffer.from(body.bytes);
    return added(
      () => service.audit(),
      () =>
        service.client.check(
          checkRequest({
            method,
            path,
            host: host === "gateway.local" ? "app.test" : host,
            headers: [
              ...headers,
              ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
              ...(text === undefined ? [] : [["x-envoy-auth-partial-body", "false"] as const]),
            ],
            ...(text !== undefined && { body: text }),
          }),
        ),
    );
  };

  const answered = (one: Case): Promise<Said> => {
    const headers = [...headersOf(one)];
    const names = headers.map((header) => header.slice(0, header.indexOf(":")).toLowerCase());
    if (!names.includes("host")) headers.unshift("Host: app.test");
    if (!names.includes("connection")) headers.push("Connection: close");
    const token = tokens.get(one.user ?? "");
    if (token !== undefined) headers.push(`Authorization: Bearer ${token}`);
    if (one.body !== undefined) {
      headers.push(`Content-Length: ${one.body.length}`);
      if (!names.includes("content-type")) headers.push("Content-Type: application/json");
    } else if (one.sent.startsWith("POST ")) headers.push("Content-Length: 0");
    const request = [`${one.sent} HTTP/1.1`, ...headers, "", one.body ?? ""].join("\r\n");
    return added(
      () => gateway.audit(),
      () => sendRaw(gateway.port, request),
    );
  };

  const run = async (...args: string[]): Promise<string> => {
    let text = "";
    const config = ["--config", join(gateway.directory, "gateway.yaml")];
    await policyExplainCommand((more) => (text += more)).parseAsync([...config, ...args], { from: "user" });
    return text;
  };

  describe("of past decisions, by the record", () => {
    const ask = async (target: string, ...headers: readonly string[]): Promise<string> => {
      const head = [`GET ${target} HTTP/1.1`, "Host: app.test", "Connection: close", ...headers, "", ""];
      const id = (await sendRaw(gateway.port, head.join("\r\n"))).headers["x-request-id"];
      assert.ok(id !== undefined);
      await eventually("the record", async () =>
        (await gateway.audit()).some(({ request_id: recorded }) => recorded === id),
      );
      return id;
    };

    it("with the set that decided, and the same outcome once more", async () => {
      const id = await ask("/users/u-9?secret=1", `Authorization: Bearer ${tokens.get("viewer") ?? ""}`);
      const text = await run("--request-id", id);
      assert.match(text, /^DENY \(403\) CONDITION_FALSE: /);
      assert.match(text, /GET \/users\/u-9\?secret=\*\*\* at .*, by u-1/);
      assert.match(text, /policy set parity@v0, digest [0-9a-f]{64}\nfound in folder /);
      assert.match(text, /same outcome:/);
      assert.match(text, /user\.id == path\.id/);
    });

    it("by the decision's id, as JSON", async () => {
      const id = await ask("/public/..%2fadmin");
      const record = (await gateway.audit()).find(({ request_id: recorded }) => recorded === id);
      const [past] = JSON.parse(await run("--json", "--request-id", String(record?.["decision_id"]))) as {
        readonly record: AuditLine;
        readonly again: { readonly outcome: string; readonly same: boolean };
      }[];
      assert.equal(past?.record["raw_path"], "/public/..%2fadmin");
      assert.deepEqual(past.again, { outcome: "DENY AMBIGUOUS_PATH", same: true });
    });

    it("says where what the record does not hold has led to another outcome, and takes it", async () => {
      const id = await ask("/header", "x-tier: gold");
      const missing = await run("--request-id", id);
      assert.match(missing, /^ALLOW CONDITION_TRUE/);
      assert.match(missing, /the outcome is DENY CONDITION_UNKNOWN: the record holds no headers/);
      assert.match(await run("--request-id", id, "-H", "x-tier: gold"), /same outcome:/);
    });

    it("takes another host in place of the record's", async () => {
      const id = await ask("/host");
      assert.match(await run("--request-id", id, "-H", "Host: APP.test"), /same outcome:/);
      assert.match(
        await run("--request-id", id, "-H", "host: b.test"),
        /the outcome is DENY CONDITION_FALSE/,
      );
    });

    it("of what Envoy has refused", async () => {
      const head = ["GET /public/past#b HTTP/1.1", "Host: app.test", "Connection: close", "", ""];
      await sendRaw(gateway.port, head.join("\r\n"));
      const record = await eventually("the record", async () =>
        (await gateway.audit()).find(({ resource }) => resource === "/public/past"),
      );
      const text = await run("--request-id", String(record["decision_id"]));
      assert.match(text, /^DENY \(400\) PATH_REFUSED: .*\(path_normalization_failed\)/);
      assert.match(text, /same outcome:\n\nrefused by Envoy before any rule was evaluated$/m);
    });

    it("and that there is no record, or no set any more", async () => {
      await assert.rejects(run("--request-id", "nobody's"), /has no decision record for request/);
      await assert.rejects(
        run("--request-id", "a", "--audit-file", "/nowhere.log"),
        /cannot read the audit file/,
      );
      const id = await ask("/public/a");
      await writeFile(join(directory, "default.yaml"), "policy_set: parity\ndefault: allow\n");
      const other = await run("--request-id", id, "--directory", directory);
      assert.match(other, /^ALLOW CONDITION_TRUE/);
      assert.match(other, /that policy set is no longer available/);
    });
  });

  it("says what is wrong with what it is given", async () => {
    await assert.rejects(run("--request", "GET /a", "--request-id", "b"), /exactly one of/);
    await assert.rejects(run("--request", "GET /a", "--audit-file", "b"), /--audit-file needs --request-id/);
    await assert.rejects(run("--request", "GET /a", "--api-key-file", "b"), /needs --from/);
    await assert.rejects(run("--request", "GET /a", "--from", "https://a.test"), /needs an API key/);
    await assert.rejects(
      run("--request", "GET /a", "--from", "https://a.test", "--api-key-file", "/nowhere"),
      /cannot read the API key from `\/nowhere`/,
    );
  });

  it("of at least 80 requests", () => {
    assert.ok(TABLE.cases.length >= 80, String(TABLE.cases.length));
    const outcomes = new Set(TABLE.cases.map(({ expect }) => expect));
    assert.ok(outcomes.size >= 18, [...outcomes].join());
  });

  for (const one of TABLE.cases) {
    const title = [one.sent, ...headersOf(one), one.body ?? "", one.user ?? "", `(${one.expect})`];
    it(title.filter((part) => part !== "").join(" "), async () => {
      const expected: Said["said"] = [one.expect, one.rule ?? null];
      const answer = await answered(one);
      const explanation = await explained(one);
      assert.deepEqual(answer.said, expected, "the gateway");
      assert.deepEqual(explanation.said, expected, "policy explain");
      if (one.envoy === undefined) assert.deepEqual((await decided(one)).said, expected, "the service");
      else {
        assert.equal(explanation.detail, answer.detail, "Envoy's word for it");
        await assert.rejects(decided(one), /Envoy hands it over/);
      }
    });
  }
});
