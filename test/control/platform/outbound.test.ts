import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { allowInsecureRequests, customFetch, discovery, type CustomFetch } from "openid-client";
import { ApiError } from "../../../src/control/platform/errors.ts";
import { guardedFetch } from "../../../src/control/platform/outbound/guarded-fetch.ts";
import { isPublicAddress } from "../../../src/control/platform/outbound/public-address.ts";
import { checkTarget, publicAddresses } from "../../../src/control/platform/outbound/target.ts";
import { eventually } from "../../support/eventually.ts";

/** Of no interest to anybody: what names resolve to that stand for the public internet. */
const PUBLIC = "93.184.216.34";

const REFUSED_ADDRESSES = [
  ["loopback", "127.0.0.1", "127.255.255.254", "::1"],
  ["unspecified", "0.0.0.0", "0.1.2.3", "::"],
  ["private", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  ["link-local, metadata of clouds included", "169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0"],
  ["metadata of clouds elsewhere", "100.100.100.200", "fd00:ec2::254", "192.0.0.192", "168.63.129.16"],
  ["shared", "100.64.0.1", "100.127.255.255"],
  ["multicast and broadcast", "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"],
  [
    "reserved, documentation, benchmarks",
    "240.0.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
  ],
  ["reserved in IPv6", "100::1", "2001:db8::1", "3fff::1", "fec0::1", "4000::1", "2001:10::1", "5f00::1"],
  ["IPv4 within IPv6: mapped", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1"],
  ["IPv4 within IPv6: compatible", "::127.0.0.1", "::a00:1"],
  ["IPv4 within IPv6: NAT64", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"],
  ["IPv4 within IPv6: 6to4, Teredo", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::"],
  ["no address", "", "localhost", "1", "127.1", "0x7f.1", "1.2.3", "[::1]", "1.2.3.4.5", "example.com"],
] as const;

/** As a URL can spell them: its parser makes addresses of most. */
const REFUSED_URLS = [
  "https://127.0.0.1/",
  "https://127.0.0.1:8443/x",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0x7f.0.0.1/",
  "https://0177.0.0.1/",
  "https://017700000001/",
  "https://127.0.0.1./",
  "https://%31%32%37.0.0.1/",
  "https://１２７.0.0.1/",
  "https://0/",
  "https://0.0.0.0/",
  "https://[::]/",
  "https://[::1]/",
  "https://[0:0:0:0:0:0:0:1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::127.0.0.1]/",
  "https://[2002:7f00:1::]/",
  "https://[fe80::1]/",
  "https://[fd00:ec2::254]/",
  "https://169.254.169.254/latest/meta-data/",
  "https://2852039166/latest/meta-data/",
  "https://10.0.0.1/",
  "https://192.168.0.1/",
  "https://100.64.0.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
];

/** Other things than web servers, and ways to be read in two ways. */
const REFUSED_FORMS = [
  "http://example.com/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "data:text/plain,x",
  "javascript:alert(1)",
  "unix:/var/run/docker.sock",
  "https://user:password@example.com/",
  "https://user@example.com/",
  "not a url",
  "//example.com/",
  "",
];

describe("addresses that may be reached", () => {
  for (const [kind, ...addresses] of REFUSED_ADDRESSES)
    for (const address of addresses)
      it(`refuses ${address || "nothing"} (${kind})`, () => {
        assert.equal(isPublicAddress(address), false);
      });

  for (const address of [PUBLIC, "8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450::1"])
    it(`allows ${address}`, () => {
      assert.equal(isPublicAddress(address), true);
    });
});

describe("registration of a target", () => {
  const resolve = () => Promise.resolve([PUBLIC]);

  for (const url of [...REFUSED_URLS, ...REFUSED_FORMS])
    it(`refuses ${url}`, () => assert.rejects(checkTarget(url, { allowPrivate: false, resolve }), isRefusal));

  it("refuses names that lead to what is not public, and tells nothing of what it is", async () => {
    for (const addresses of [
      ["127.0.0.1"],
      ["10.1.2.3", "::1"],
      ["169.254.169.254"],
      ["::ffff:8.8.8.8"],
      [],
    ]) {
      const options = { allowPrivate: false, resolve: () => Promise.resolve(addresses) };
      await assert.rejects(checkTarget("https://inside.example/", options), (error) => {
        assert.ok(isRefusal(error));
        assert.deepEqual(
          [error.message, error.details],
          ["the host has no public address", { field: "url" }],
        );
        return true;
      });
    }
  });

  it("refuses a name when the name servers do not answer", () =>
    assert.rejects(
      checkTarget("https://a.example/", {
        allowPrivate: false,
        resolve: () => Promise.reject(new Error("ETIMEOUT")),
      }),
      isRefusal,
    ));

  it("asks for a machine's own names in vain", async () => {
    await assert.rejects(checkTarget("https://localhost/", { allowPrivate: false }), isRefusal);
  });

  it("allows what is public, and what is not where that is allowed", async () => {
    await checkTarget("https://hooks.example/in?a=b", { allowPrivate: false, resolve });
    await checkTarget(`https://${PUBLIC}/`, { allowPrivate: false });
    await checkTarget("https://[2606:4700:4700::1111]/", { allowPrivate: false });
    for (const url of ["http://127.0.0.1:1/", "http://localhost/", "https://10.0.0.1/", "http://[::1]/"])
      await checkTarget(url, { allowPrivate: true });
  });

  for (const url of ["ftp://127.0.0.1/", "http://user:password@127.0.0.1/", "file:///etc/passwd", "x"])
    it(`refuses ${url} even where private addresses are allowed`, () =>
      assert.rejects(checkTarget(url, { allowPrivate: true }), isRefusal));
});

describe("guarded fetch", () => {
  let server: Server;
  let port: number;
  let asked: string[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    asked = [];
    answer = (_request, response) => response.end("hello");
    server = createServer((request, response) => {
      asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
      answer(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = (parts: Partial<Parameters<typeof guardedFetch>[0]> = {}) =>
    guardedFetch({ allowPrivate: true, timeoutMs: 5_000, ...parts });

  it("sends and answers like fetch", async () => {
    answer = (request, response) => {
      request.setEncoding("utf8").once("data", (body) => {
        response.writeHead(201, { "x-said": String(body) }).end(request.headers["x-a"]);
      });
    };
    const response = await open()(`http://127.0.0.1:${port}/p`, {
      method: "POST",
      headers: { "x-a": "1" },
      body: "b",
    });
    assert.deepEqual(
      [response.status, response.headers.get("x-said"), await response.text()],
      [201, "b", "1"],
    );
    assert.deepEqual(asked, ["POST /p"]);
  });

  it("serves openid-client", async () => {
    const issuer = `http://127.0.0.1:${port}`;
    answer = (_request, response) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify({ issuer }));
    const found = await discovery(new URL(issuer), "client", undefined, undefined, {
      [customFetch]: open() as CustomFetch,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the mark is to make it stand out
      execute: [allowInsecureRequests],
    });
    assert.equal(found.serverMetadata().issuer, issuer);
  });

  for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"])
    it(`does not connect to ${host}`, async () => {
      let connections = 0;
      const trap = createTcpServer(() => (connections += 1)).listen(0, "127.0.0.1");
      await once(trap, "listening");
      const at = (trap.address() as AddressInfo).port;
      await assert.rejects(open({ allowPrivate: false })(`https://${host}:${at}/`), (error: Error) => {
        const refusal = error.cause instanceof Error ? error.cause : error;
        assert.equal(refusal.name, "TargetNotAllowed");
        return true;
      });
      await assert.rejects(open({ allowPrivate: false })(`http://${host}:${at}/`));
      // the same connection by a fetch that may: the trap works
      const given = new AbortController();
      const tried = assert.rejects(open()(`https://127.0.0.1:${at}/`, { signal: given.signal }));
      await eventually("the connection of one that may", () => connections === 1);
      given.abort();
      await tried;
      trap.close();
    });

  it("looks at the address again at each connection: a name that is public first is not, later", async () => {
    const answers = [[PUBLIC], ["127.0.0.1"]];
    const resolve = () => Promise.resolve(answers.shift() ?? ["127.0.0.1"]);
    const url = `https://rebinding.example:${port}/`;
    await checkTarget(url, { allowPrivate: false, resolve });
    await assert.rejects(open({ allowPrivate: false, resolve })(url), (error: Error) => {
      assert.match(String(error.cause), /the host has no public address/);
      return true;
    });
    assert.deepEqual([answers, asked], [[], []]);
  });

  it("leaves out those addresses of a name that are not public", async () => {
    const resolve = () => Promise.resolve(["127.0.0.1", PUBLIC, "::1", "2606:4700:4700::1111", "10.0.0.1"]);
    assert.deepEqual(await publicAddresses("mixed.example", resolve), [PUBLIC, "2606:4700:4700::1111"]);
  });

  it("resolves names by itself alone", async () => {
    const resolve = (hostname: string) => {
      assert.equal(hostname, "receiver.example");
      return Promise.resolve(["127.0.0.1"]);
    };
    const response = await open({ resolve })(`http://receiver.example:${port}/`);
    assert.equal(await response.text(), "hello");
  });

  for (const redirect of [undefined, "follow", "manual"] as const)
    it(`follows no redirect (asked for: ${redirect ?? "nothing"})`, async () => {
      answer = (_request, response) => response.writeHead(302, { location: "/elsewhere" }).end();
      const response = await open()(`http://127.0.0.1:${port}/`, redirect && { redirect });
      assert.deepEqual([response.status, response.headers.get("location")], [302, "/elsewhere"]);
      assert.deepEqual(asked, ["GET /"]);
    });

  it("knows no proxy of the environment", async () => {
    const names = ["http_proxy", "HTTP_PROXY", "NODE_USE_ENV_PROXY"];
    const before = names.map((name) => process.env[name]);
    process.env["http_proxy"] = process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
    process.env["NODE_USE_ENV_PROXY"] = "1";
    try {
      assert.equal((await open()(`http://127.0.0.1:${port}/`)).status, 200);
    } finally {
      names.forEach((name, at) => {
        if (before[at] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[at];
      });
    }
  });

  it("bounds the time, up to the body's end", async () => {
    answer = () => undefined;
    await assert.rejects(open({ timeoutMs: 500 })(`http://127.0.0.1:${port}/`), { name: "TimeoutError" });
    answer = (_request, response) => void response.writeHead(200).write("part");
    const response = await open({ timeoutMs: 3_000 })(`http://127.0.0.1:${port}/`);
    await assert.rejects(response.text(), { name: "TimeoutError" });
  });

  it("bounds the body, as it is and decompressed", async () => {
    const fetchFew = open({ maxBytes: 1_000 });
    const url = `http://127.0.0.1:${port}/`;
    answer = (_request, response) => response.end("x".repeat(1_000));
    assert.equal((await (await fetchFew(url)).text()).length, 1_000);
    answer = (_request, response) => response.end("x".repeat(1_001));
    await assert.rejects((await fetchFew(url)).text(), /more than 1000 bytes/);
    answer = (_request, response) =>
      response.setHeader("content-encoding", "gzip").end(gzipSync("x".repeat(1_000_000)));
    await assert.rejects((await fetchFew(url)).text(), /more than 1000 bytes/);
  });

  it("is ended by its caller", async () => {
    answer = () => undefined;
    const ended = open()(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(50) });
    await assert.rejects(ended, { name: "TimeoutError" });
  });

  it("keeps no connection, for it would be used without a look at its address", async () => {
    const get = open();
    const ports = new Set<number | undefined>();
    server.on("connection", (socket) => ports.add(socket.remotePort));
    for (let at = 0; at < 3; at += 1) await (await get(`http://127.0.0.1:${port}/`)).text();
    assert.equal(ports.size, 3);
  });
});

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "TARGET_NOT_ALLOWED" && error.status === 422;
}
