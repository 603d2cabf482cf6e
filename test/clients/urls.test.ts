import assert from "node:assert/strict";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { sendHttp2 } from "../support/http2-request.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { sendRaw } from "../support/raw-http.ts";
import { startRawUpstream, type RawUpstream } from "../support/upstreams/raw-upstream.ts";
import { urlCases, urlFiles, type UrlCase } from "../support/url-cases.ts";

const PROTOCOLS = ["HTTP/1.1", "HTTP/2"] as const;

async function send(gateway: RunningGateway, protocol: string, one: UrlCase): Promise<number> {
  const { method, target, headers } = one;
  if (protocol === "HTTP/2") {
    const pseudo = { ":method": method, ":path": target, ":authority": "app.test" };
    return (await sendHttp2(gateway.url, { ...pseudo, ...Object.fromEntries(headers) })).status;
  }
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: app.test",
    "Connection: close",
    ...headers.map((header) => header.join(": ")),
  ];
  return (await sendRaw(gateway.port, [...lines, "", ""].join("\r\n"))).status;
}

describe("clients: URLs of real frameworks reach the application byte for byte, or not at all", function () {
  this.timeout(120_000);
  let upstream: RawUpstream;
  let issuer: TestIssuer;
  let strict: RunningGateway;
  let lenient: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRawUpstream(), startIssuer()]);
    const start = (accept_ambiguous: readonly object[]) =>
      startGateway({
        backend: upstream.url,
        issuer,
        policies: { "default.yaml": 'policies:\n  - { resource: "* /**", condition: "true" }\n' },
        config: { gateway: { accept_ambiguous } },
      });
    const entries = urlCases.flatMap(({ accept }) => accept ?? []);
    [strict, lenient] = await Promise.all([start([]), start(entries)]);
  });
  after(async () => {
    await Promise.all([strict.stop(), lenient.stop(), issuer.close()]);
    await upstream.close();
  });

  for (const { groups } of urlFiles) {
    for (const { framework, urls } of groups) {
      for (const protocol of PROTOCOLS) {
        it(`${framework}, ${protocol}`, async () => {
          for (const one of urls) {
            const line = `${one.method} ${one.target} HTTP/1.1`;
            const seen = upstream.requestLines.length;
            const status = await send(strict, protocol, one);
            if (one.refused === undefined) {
              assert.deepEqual([status, upstream.requestLines.slice(seen)], [200, [line]], line);
              continue;
            }
            assert.deepEqual([status, upstream.requestLines.slice(seen)], [400, []], line);
            const accepted = await send(lenient, protocol, one);
            assert.deepEqual([accepted, upstream.requestLines.slice(seen)], [200, [line]], line);
            const head = upstream.heads.at(-1)?.split("\r\n") ?? [];
            for (const [name, value] of one.headers) assert.ok(head.includes(`${name}: ${value}`), name);
          }
        });
      }
    }
  }

  it("a header that only the gateway sets is removed in CGI's spelling, too", async () => {
    const headers = [
      ["X_User_Id", "root"],
      ["x_user_role", "admin"],
      ["X_Forwarded_For", "10.0.0.1"],
      ["x_api_key", "1"],
    ] as const;
    for (const protocol of PROTOCOLS) {
      const names = headers.map(
        ([name, value]) => [protocol === "HTTP/2" ? name.toLowerCase() : name, value] as const,
      );
      const one: UrlCase = { method: "GET", target: "/cgi/report", headers: names };
      const seen = upstream.heads.length;
      assert.equal(await send(strict, protocol, one), 400);
      assert.equal(await send(lenient, protocol, { ...one, target: "/other" }), 400);
      assert.equal(upstream.heads.length, seen);
      assert.equal(await send(lenient, protocol, one), 200);
      const head = upstream.heads.at(-1) ?? "";
      assert.match(head, /\r\nx_api_key: 1(?:\r\n|$)/);
      assert.doesNotMatch(head, /x[_-]user[_-](?:id|role)|x_forwarded/i);
    }
  });
});
