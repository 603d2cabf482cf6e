import assert from "node:assert/strict";
import { connect, type ClientHttp2Session } from "node:http2";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

/** More than Envoy lets wait of requests without a credential, and than a worker decides meanwhile. */
const CONNECTIONS = 60;
const STREAMS = 100;
const SENT = CONNECTIONS * STREAMS;
/** More refusals than two workers record at a rate of 10 per second, of which up to ten seconds' worth come at once. */
const REFUSED = 1_000;
/** Envoy, then the worker, collect entries for less than this; and nothing comes in a moment in which neither had CPU time. */
const QUIET_MS = 3_000;

interface Answer {
  readonly status: number;
  readonly requestId: string;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

function ask(session: ClientHttp2Session): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":path": "/open" });
    let answer: Omit<Answer, "body"> = { status: 0, requestId: "", retryAfter: undefined };
    let body = "";
    stream.on("response", (headers) => {
      answer = {
        status: headers[":status"] ?? 0,
        requestId: String(headers["x-request-id"]),
        retryAfter: headers["retry-after"],
      };
    });
    stream.setEncoding("utf8").on("data", (part: string) => (body += part));
    stream.on("error", reject);
    stream.on("end", () => {
      resolve({ ...answer, body });
    });
  });
}

describe("end to end: what an overloaded Envoy refuses", function () {
  this.timeout(240_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
  });
  after(() => Promise.all([upstream.close(), issuer.close()]));

  /** All records and all that was dropped, when nothing is added any more. */
  const recordsOf = async (gateway: RunningGateway) => {
    let before = -1;
    return eventually("the last record", async () => {
      const lines = await gateway.audit();
      const dropped = await gateway.metric("gatehouse_audit_dropped_total");
      const decisions = lines.filter(({ event }) => event === undefined).length;
      if (decisions + dropped >= SENT && lines.length + dropped === before) return { lines, dropped };
      before = lines.length + dropped;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      return undefined;
    });
  };

  const RATES = [
    ["as many records as there are refusals", { refusal_rate: 10_000, queue_size: 100_000 }],
    ["fewer records per second than refusals", { refusal_rate: 10 }],
  ] as const;
  for (const [name, audit] of RATES) {
    describe(name, () => {
      let gateway: RunningGateway;
      let answers: readonly Answer[];
      let records: Awaited<ReturnType<typeof recordsOf>>;

      before(async () => {
        gateway = await startGateway({
          backend: upstream.url,
          issuer,
          policies: { "default.yaml": 'policies: [{ resource: "GET /open", condition: "true" }]' },
          config: {
            authz: { queue_timeout: "0s", decision_timeout: "60s" },
            gateway: { performance: { connection_pool_size: 10_000 } },
            audit,
          },
        });
        const sessions = Array.from({ length: CONNECTIONS }, () => connect(gateway.url));
        // stopped until Envoy has refused so many, so that no machine is too fast for it; and the one that adjusts how many wait
        const { workers } = await gateway.children();
        const stopped = [gateway.process.pid!, ...workers];
        for (const pid of stopped) process.kill(pid, "SIGSTOP");
        const asked = sessions.flatMap((session) => Array.from({ length: STREAMS }, () => ask(session)));
        let answered = 0;
        const counted = asked.map((answer) => answer.then(() => (answered += 1)));
        try {
          await eventually(`${REFUSED} refusals`, () => answered >= REFUSED);
        } finally {
          for (const pid of stopped) process.kill(pid, "SIGCONT");
        }
        await Promise.all(counted);
        answers = await Promise.all(asked);
        for (const session of sessions) session.close();
        records = await recordsOf(gateway);
      });
      after(() => gateway.stop());

      it("is answered 503, with when to ask again", () => {
        assert.equal(answers.length, SENT);
        const refused = answers.filter(({ status }) => status !== 200);
        assert.ok(
          refused.length > 0 && refused.length < SENT,
          `${String(refused.length)} of ${String(SENT)}`,
        );
        for (const { status, retryAfter, body } of refused) {
          assert.deepEqual([status, retryAfter], [503, "1"]);
          assert.match(body, /"code":"SERVICE_UNAVAILABLE"/);
        }
      });

      it("has one record each, or is counted as dropped, under ids of which no two are the same", () => {
        const ids = new Set(answers.map(({ requestId }) => requestId));
        assert.equal(ids.size, SENT);
        const decisions = records.lines.filter(({ event }) => event === undefined);
        assert.equal(decisions.length + records.dropped, SENT);
        const recorded = decisions.map((line) => String(line["request_id"]));
        assert.equal(new Set(recorded).size, recorded.length);
        assert.deepEqual(
          recorded.filter((id) => !ids.has(id)),
          [],
        );
        if (audit.refusal_rate < SENT) assert.ok(records.dropped > 0);
        else assert.equal(records.dropped, 0);
      });

      it("is recorded as it was answered: allowed is what was let through, and nothing else", () => {
        const statusOf = new Map(answers.map(({ requestId, status }) => [requestId, status]));
        const notForwarded = new Set(
          records.lines
            .filter(({ event, ...line }) => event !== undefined && line["result"] === "not_forwarded")
            .map((line) => String(line["request_id"])),
        );
        for (const line of records.lines.filter(({ event }) => event === undefined)) {
          const id = String(line["request_id"]);
          const isLetThrough = line.decision === "ALLOW" && !notForwarded.has(id);
          assert.equal(statusOf.get(id), isLetThrough ? 200 : 503, JSON.stringify(line));
        }
        const refused = records.lines.filter(({ reason }) => reason === "OVERLOADED");
        assert.ok(refused.length > 0);
      });
    });
  }
});
