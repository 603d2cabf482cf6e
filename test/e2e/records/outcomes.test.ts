import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile, rename } from "node:fs/promises";
import { connect } from "node:http2";
import { request } from "node:http";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { startApplications, type Applications } from "../../support/upstreams/failing-applications.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";

const POLICIES = `
policies:
  - { resource: "GET /**", condition: exists(user.id) }
web_policies:
  - { path: /open/*, condition: true }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: true, action: mask }]
`;

type Name = Exclude<keyof Applications, "close">;

/** What the client gets, Envoy's letter for it, and what the application had answered. */
const CASES: readonly (readonly [name: Name, status: number, flag: string | undefined, upstream?: number])[] =
  [
    ["ok", 200, undefined, 200],
    ["down", 503, "UF"],
    ["closing", 503, "UC"],
    ["silent", 504, "UT"],
    ["resetting", 503, "UR"],
  ];

type Ask = (url: string, headers: Readonly<Record<string, string>>) => Promise<number>;

const overHttp1: Ask = (url, headers) =>
  new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      response.resume().on("close", () => {
        resolve(response.statusCode ?? 0);
      });
      response.on("error", () => undefined);
    })
      .on("error", reject)
      .end();
  });

const overHttp2: Ask = async (url, headers) => {
  const session = connect(url);
  const { pathname, search } = new URL(url);
  const stream = session.request({ ":path": pathname + search, ...headers });
  let status = 0;
  stream.on("response", (received) => (status = received[":status"] ?? 0));
  stream.on("error", () => undefined);
  stream.resume();
  await once(stream, "close");
  session.destroy();
  return status;
};

const CLIENTS = [
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
] as const;

/** Begins a gateway in front of all of them; a front proxy chooses. */
async function startInFront(
  applications: Applications,
  issuer: TestIssuer,
  config: { readonly gateway?: Record<string, unknown>; readonly audit?: Record<string, unknown> } = {},
): Promise<RunningGateway> {
  const { ok, down, closing, silent, cut, resetting } = applications;
  return startGateway({
    backend: ok,
    issuer,
    policies: { "default.yaml": POLICIES },
    config: {
      gateway: {
        listen_port: 0,
        backends: [ok, down, closing, silent, cut, resetting],
        trusted_proxies: ["127.0.0.1/32"],
        routes: [{ path: "/silent/**", upstream_timeout: "500ms" }],
        ...config.gateway,
      },
      ...(config.audit && { audit: config.audit }),
    },
  });
}

describe("end to end: what became of requests", () => {
  let applications: Applications;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const token = async () => `Bearer ${await issuer.token({ sub: "u-1" })}`;

  before(async () => {
    [applications, issuer] = await Promise.all([startApplications(), startIssuer()]);
  });
  after(async () => {
    await issuer.close();
    applications.close();
  });

  describe("as it is by default", () => {
    before(async () => {
      gateway = await startInFront(applications, issuer);
    });
    after(() => gateway.stop());

    it("counts how applications fail, from zero on, and writes nothing", async () => {
      for (const flag of ["UF", "UC", "UT", "UR"])
        assert.equal(await gateway.metric("gatehouse_upstream_failures_total", { flag }), 0);
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      assert.ok(text.includes(`gatehouse_upstream_failures_total{upstream="${applications.down}",flag="UF"`));
      assert.ok(
        text.includes(`gatehouse_upstream_responses_total{upstream="${applications.ok}",class="2xx"} 0`),
      );
      for (const [, ask] of CLIENTS) {
        for (const [name, status] of CASES) {
          const headers = { authorization: await token(), "x-backend-url": applications[name] };
          assert.equal(await ask(`${gateway.url}/${name}/a?secret=1`, headers), status, name);
        }
      }
      for (const [name, status, flag] of CASES) {
        const upstream = applications[name];
        if (flag !== undefined) {
          const labels = { upstream, flag };
          await eventually(
            `${name}: ${flag}`,
            async () => (await gateway.metric("gatehouse_upstream_failures_total", labels)) === 2,
          );
        }
        const all = await gateway.metric("gatehouse_upstream_failures_total", { upstream });
        assert.equal(all, flag === undefined ? 0 : 2, `${name}: no other flag`);
        const labels = { upstream, class: `${String(status)[0] ?? ""}xx` };
        await eventually(
          `${name}: class`,
          async () => (await gateway.metric("gatehouse_upstream_responses_total", labels)) === 2,
        );
        assert.equal(await gateway.metric("gatehouse_upstream_responses_total", { upstream }), 2, name);
      }
      const lines = await gateway.audit();
      assert.deepEqual(
        lines.filter((line) => "event" in line),
        [],
      );
      assert.equal(await gateway.metric("gatehouse_access_log_skipped_total"), 0);
    });

    it("measures how long they took, in seconds", async () => {
      const upstream = applications.ok;
      await eventually(
        "the histogram",
        async () => (await gateway.metric("gatehouse_upstream_duration_seconds_count", { upstream })) === 2,
      );
      const bucket = (le: string) =>
        gateway.metric("gatehouse_upstream_duration_seconds_bucket", { upstream, le });
      assert.equal(await bucket("+Inf"), 2);
      assert.equal(await bucket("3600"), 2);
      assert.ok((await bucket("0.0005")) <= 2);
      const sum = await gateway.metric("gatehouse_upstream_duration_seconds_sum", { upstream });
      assert.ok(sum < 3600, String(sum));
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      assert.match(text, /^# TYPE gatehouse_upstream_duration_seconds histogram$/m);
      assert.match(text, /^# TYPE gatehouse_upstream_responses_total counter$/m);
      assert.equal(text.match(/^# HELP gatehouse_upstream_responses_total /gm)?.length, 1);
    });

    it("counts no denial as an answer of the application", async () => {
      const upstream = applications.ok;
      const answers = (labels: Record<string, string>) =>
        gateway.metric("gatehouse_upstream_responses_total", { upstream, ...labels });
      const [all, good] = [await answers({}), await answers({ class: "2xx" })];
      for (const [, ask] of CLIENTS) {
        const bad = { authorization: "Bearer none" };
        assert.equal(await ask(`${gateway.url}/a`, {}), 401);
        assert.equal(await ask(`${gateway.url}/a`, bad), 401);
        assert.equal(await ask(`${gateway.url}/a%2fb`, {}), 400);
        assert.equal(await ask(`${gateway.url}/open/a`, {}), 200);
      }
      await eventually("those allowed", async () => (await answers({ class: "2xx" })) === good + 2);
      assert.equal(await answers({}), all + 2);
    });

    it("answers a scrape also while there is no Envoy", async () => {
      const { envoy } = await gateway.children();
      for (const pid of envoy) process.kill(pid, "SIGSTOP");
      try {
        const answer = await fetch(`${gateway.adminUrl}/metrics`);
        assert.equal(answer.status, 200);
        assert.match(await answer.text(), /^gatehouse_decisions_total/m);
      } finally {
        for (const pid of envoy) process.kill(pid, "SIGCONT");
      }
    });
  });

  describe("where both are switched on", () => {
    before(async () => {
      gateway = await startInFront(applications, issuer, {
        gateway: { access_log: "access.log" },
        audit: { destination: "file", path: "audit.log", outcomes: true },
      });
    });
    after(() => gateway.stop());

    const accessLines = async () =>
      (await readFile(join(gateway.directory, "access.log"), "utf8"))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);

    /** The decision's record, the outcome's, and the line of the access log, of one request. */
    async function traces(path: string): Promise<readonly [AuditLine, AuditLine, Record<string, unknown>]> {
      return eventually(`all about ${path}`, async () => {
        const lines = await gateway.audit();
        const decision = lines.find((line) => line.resource === path);
        const outcome = lines.find(
          (line) => line["event"] === "response" && line["decision_id"] === decision?.["decision_id"],
        );
        const line = (await accessLines()).find((one) => one["decision_id"] === decision?.["decision_id"]);
        return decision && outcome && line && ([decision, outcome, line] as const);
      });
    }

    for (const [protocol, ask] of CLIENTS) {
      for (const [name, status, flag, answered] of CASES) {
        it(`joins record, outcome and line: ${name}, over ${protocol}`, async () => {
          const path = `/${name}/${protocol.replace("/", "-")}`;
          const headers = { authorization: await token(), "x-backend-url": applications[name] };
          assert.equal(await ask(`${gateway.url}${path}?key=hidden`, headers), status);
          const [decision, outcome, line] = await traces(path);
          assert.equal(decision.decision, "ALLOW");
          assert.equal(outcome["result"], flag === undefined ? "delivered" : "failed");
          assert.equal(outcome["response_code"], status);
          assert.equal(outcome["response_flags"], flag);
          assert.equal(outcome["upstream"], applications[name]);
          assert.equal(outcome["upstream_status"], answered);
          assert.equal(typeof outcome["duration_ms"], "number");
          if (answered !== undefined) assert.equal(typeof outcome["upstream_ms"], "number");
          assert.equal(line["path"], `${path}?key=***`);
          assert.equal(line["request_id"], decision["request_id"]);
          assert.deepEqual([line["method"], line["status"]], ["GET", status]);
          assert.equal(line["protocol"], protocol);
          assert.equal(line["response_flags"], flag ?? "-");
          assert.match(String(line["time"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
          assert.equal(line["upstream"], new URL(applications[name]).host);
          assert.equal(typeof line["duration_ms"], "number");
        });
      }

      it(`says so where the application breaks off, over ${protocol}`, async () => {
        const path = `/cut/${protocol.replace("/", "-")}`;
        const headers = { authorization: await token(), "x-backend-url": applications.cut };
        await ask(`${gateway.url}${path}`, headers).catch(() => 0);
        const [, outcome] = await traces(path);
        assert.deepEqual(
          [outcome["result"], outcome["response_flags"], outcome["upstream_status"]],
          ["failed", "UPE", 200],
        );
      });

      it(`keeps what response rules did, over ${protocol}`, async () => {
        const before = (await accessLines().catch(() => [])).length;
        const headers = { authorization: await token(), "x-backend-url": applications.ok };
        assert.equal(await ask(`${gateway.url}/masked`, headers), 200);
        const lines = await eventually("the line", async () => {
          const now = await accessLines();
          return now.length > before ? now : undefined;
        });
        const id = lines.findLast((line) => line["path"] === "/masked")?.["decision_id"];
        const outcome = await eventually("the outcome", async () =>
          (await gateway.audit()).find((line) => line["event"] === "response" && line["decision_id"] === id),
        );
        assert.deepEqual([outcome["result"], outcome["upstream_status"]], ["masked", 200]);
      });
    }

    it("has no outcome of what was denied, but a line", async () => {
      assert.equal(await overHttp1(`${gateway.url}/denied?a=b`, {}), 401);
      const decision = await eventually("the record", async () =>
        (await gateway.audit()).find((line) => line.resource === "/denied"),
      );
      const line = await eventually("the line", async () =>
        (await accessLines()).find((one) => one["decision_id"] === decision["decision_id"]),
      );
      assert.deepEqual([line["status"], line["path"], line["upstream"]], [401, "/denied?a=***", undefined]);
      // what is later in the log says that the outcome would have come
      assert.equal(await overHttp1(`${gateway.url}/open/later`, {}), 200);
      await traces("/open/later");
      const outcomes = (await gateway.audit()).filter(
        (one) => one["decision_id"] === decision["decision_id"],
      );
      assert.equal(outcomes.length, 1);
    });

    it("keeps secrets out of the lines, also of what Envoy refuses by itself", async () => {
      const secret = "s3cr3tvalue";
      const jwt = `eyJhbGciOiJub25lIn0.${secret}`;
      const targets = [
        `/q?token=${secret}`,
        `/q;token=${secret}`,
        `/q%3ftoken=${secret}`,
        `/q%23${secret}`,
        `/a%2fb?token=${secret}`,
        `/a%2f;token=${secret}`,
        `/a%5c%3ftoken=${secret}`,
        `/a%2f/${jwt}`,
        `/${jwt}`,
        `http://user:${secret}@x/a%2fb`,
        // by Envoy itself
        `/q#${secret}`,
      ];
      const long = `${secret}-0123456789abc`;
      const hostless = [`/reset/${long}/x?a=${secret}`, `/f/${jwt}`, `/of-24-characters.......?a=/${long}`];
      const before = (await accessLines()).length;
      for (const target of targets) await sendRaw(gateway.port, rawGet(target));
      for (const target of hostless) await sendRaw(gateway.port, `GET ${target} HTTP/1.1\r\n\r\n`);
      const sent = targets.length + hostless.length;
      const lines = await eventually("the lines", async () => {
        const now = await accessLines();
        return now.length >= before + sent ? now : undefined;
      });
      assert.ok(!JSON.stringify(lines).includes(secret), JSON.stringify(lines.slice(before)));
      // one line for each, and a path where it can hold nothing
      assert.equal(lines.length, before + sent);
      const paths = lines.map((line) => line["details"] === "missing_host_header" && line["path"]);
      assert.deepEqual(paths.slice(-3), [undefined, undefined, "/of-24-characters......."]);
      assert.ok(lines.slice(before).some((line) => line["status"] === 400 && line["path"] === undefined));
    });

    it("goes on in a new file after SIGUSR1", async () => {
      const path = join(gateway.directory, "access.log");
      await rename(path, `${path}.1`);
      const { envoy } = await gateway.children();
      for (const pid of envoy) process.kill(pid, "SIGUSR1");
      await eventually("the new file", async () => {
        await overHttp1(`${gateway.url}/open/new`, {});
        return (await readFile(path, "utf8").catch(() => "")).includes("/open/new");
      });
    });

    it("holds one equation for outcomes", async () => {
      await eventually("outcomes = recorded + dropped", async () => {
        const [outcomes, recorded, dropped] = await Promise.all([
          gateway.metric("gatehouse_outcomes_total"),
          gateway.metric("gatehouse_audit_outcomes_recorded_total"),
          gateway.metric("gatehouse_audit_outcomes_dropped_total"),
        ]);
        return outcomes > 0 && outcomes === recorded + dropped;
      });
    });
  });

  it("goes to stderr, line by line between the log's own", async () => {
    const gateway = await startInFront(applications, issuer, { gateway: { access_log: "stderr" } });
    try {
      assert.equal(await overHttp1(`${gateway.url}/open/x?a=1`, {}), 200);
      const line = await eventually("the line", () =>
        gateway
          .stderr()
          .split("\n")
          .find((one) => one.startsWith("{") && one.includes('"decision_id"') && one.includes("/open/x")),
      );
      const { path, status, decision_id: id } = JSON.parse(line) as Record<string, unknown>;
      assert.deepEqual([path, status], ["/open/x?a=***", 200]);
      const decision = await eventually("the record", async () =>
        (await gateway.audit()).find((one) => one.resource === "/open/x"),
      );
      assert.equal(decision["decision_id"], id);
      assert.deepEqual(
        (await gateway.audit()).filter((one) => "event" in one),
        [],
        "outcomes are another setting",
      );
    } finally {
      await gateway.stop();
    }
  });
});
