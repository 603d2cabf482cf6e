import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - { resource: "POST /uploads/{id}", condition: "true" }
  - { resource: "POST /other/{id}", condition: "true" }
`;
/** The limit of requests, and a time that is longer. */
const USUAL = "2s";
const LONGER_MS = 3500;
const PATHS = ["/uploads", "/other"];
const FRAMINGS = ["Content-Length", "Transfer-Encoding"] as const;

/** Sends a POST whose body is not yet complete. */
function begin(port: number, path: string, framing: (typeof FRAMINGS)[number]) {
  const isChunked = framing === "Transfer-Encoding";
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  const closed = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => {
      resolve();
    });
  });
  const length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 6";
  socket.write(`POST ${path} HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${length}\r\n\r\n`);
  socket.write(isChunked ? "3\r\nabc\r\n" : "abc");
  return {
    finish: () => socket.write(isChunked ? "3\r\ndef\r\n0\r\n\r\n" : "def"),
    /** All that was answered, when the connection has ended. */
    answer: () => closed.then(() => text),
  };
}

describe("end to end: the time for bodies of requests, decision 54", function () {
  this.timeout(120_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let usual: RunningGateway;
  let longer: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    const start = (routes: readonly object[]) =>
      startGateway({
        backend: upstream.url,
        issuer,
        policies: { "default.yaml": POLICIES },
        config: { gateway: { performance: { request_timeout: USUAL }, routes } },
      });
    usual = await start([{ path: "/uploads/**", request_size_limit: "1MB" }]);
    longer = await start([{ path: "/uploads/**", request_timeout: "60s" }]);
    // the first decision of a worker takes longer than others, and the limit is for the body
    for (const { url } of [usual, longer])
      await eventually("the first decision", async () => {
        const answer = await fetch(`${url}/other/first`, { method: "POST" });
        await answer.arrayBuffer();
        return answer.ok;
      });
  });
  after(async () => {
    await Promise.all([usual.stop(), longer.stop()]);
    await Promise.all([upstream.close(), issuer.close()]);
  });
  beforeEach(() => {
    upstream.seen.length = 0;
  });

  for (const framing of FRAMINGS) {
    it(`ends a request whose body does not come, on every path: 408 and one record (${framing})`, async () => {
      const isEnded = async (folder: string) => {
        const path = `${folder}/${framing}`;
        assert.match(await begin(usual.port, path, framing).answer(), /^HTTP\/1\.1 408 /);
        // what has a length is forwarded as it comes; the other is held back until it is complete
        const expected = framing === "Content-Length" ? [["ALLOW"]] : [["ALLOW"], ["REQUEST_TIMEOUT"]];
        const lines = await eventually("the record, and the line beside it", async () => {
          const audit = await usual.audit();
          const ids = audit.filter(({ resource }) => resource === path).map((line) => line["request_id"]);
          const found = audit.filter((line) => ids.includes(line["request_id"]));
          return found.length >= expected.length && found;
        });
        assert.deepEqual(
          lines.map(({ event, decision, reason }) => [event === undefined ? decision : reason]),
          expected,
        );
      };
      await Promise.all(PATHS.map(isEnded));
      assert.deepEqual(upstream.seen, []);
    });

    it(`one route with a longer time lets it pass there, and everywhere else: Envoy has one time for all (${framing})`, async () => {
      const passes = async (folder: string) => {
        const slow = begin(longer.port, `${folder}/slow`, framing);
        await sleep(LONGER_MS);
        slow.finish();
        assert.match(await slow.answer(), /^HTTP\/1\.1 200 /);
      };
      await Promise.all(PATHS.map(passes));
      assert.deepEqual(
        new Map(upstream.seen.map(({ url, body }) => [url, body])),
        new Map(PATHS.map((folder) => [`${folder}/slow`, "abcdef"])),
      );
      assert.equal(upstream.seen.length, PATHS.length);
    });
  }
});
