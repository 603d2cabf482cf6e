import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import type { HttpAnswer } from "../../src/authorizers/answer.ts";
import { SUB_REQUEST_DOORS } from "../../src/authorizers/doors.ts";
import { haproxy } from "../../src/authorizers/haproxy.ts";
import { startAuthorizers, type Authorizers } from "../../src/authorizers/server.ts";
import { startSpop } from "../../src/authorizers/spop-server.ts";
import type { SubRequest } from "../../src/authorizers/sub-request.ts";
import { createCheckEncoder } from "../../src/extauthz/answer-check.ts";
import { HealthState } from "../../src/extauthz/health.ts";
import { createCheckReader } from "../../src/extauthz/read-check.ts";
import { startAuthzServer } from "../../src/extauthz/server.ts";
import type { Door, DoorCall, GIVEN_UP } from "../../src/decision/point/index.ts";
import { snapshotOf, bearer, silentLog, useIssuer } from "../decision/support.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { isInstalled } from "../support/programs.ts";
import { sendRaw } from "../support/raw-http.ts";
import { expectedAt, lineOf, REFUSED, requestOf, TABLE, titleOf, type Column } from "./support/case-table.ts";
import {
  startCaddy,
  startEnvoy,
  startGrpcEnvoy,
  startHaproxy,
  startNginx,
  type Ports,
  type Proxy,
} from "./support/proxies.ts";

it("authorizers: the table has at least 120 requests, and refusals of each kind", () => {
  assert.ok(TABLE.requests.length >= 120, String(TABLE.requests.length));
  assert.ok(new Set(TABLE.requests.map(({ reason }) => reason)).size >= 12);
});

/** Of a request, by our configurations: `X-Original-...`. */
const ORIGINAL = ["request", "host", "scheme", "address", "connection", "upgrade"].map(
  (name) => `x-original-${name}`,
);

/** What Envoy at the edge (`use_remote_address`) removes from what a client sends. */
const IN_ENVOYS_NAME = ["x-envoy-original-path", "x-envoy-original-host", "x-envoy-internal"];

/** A proxy, and how Gatehouse answers it. */
interface Tested<Message, Answer> {
  readonly name: Column;
  /** Headers by which the proxy describes the request: nobody gets the client's own. */
  readonly describedBy?: readonly string[];
  /** With clients that begin with it, without TLS. */
  readonly speaksHttp2?: boolean;
  readonly isHere: boolean;
  readonly start: (ports: Ports) => Promise<Proxy>;
  readonly door: Door<Message, Answer>;
  readonly listen: (
    ask: (message: Message, call: DoorCall) => Promise<Answer | typeof GIVEN_UP>,
  ) => Promise<Pick<Authorizers, "port" | "close">>;
}

const TESTS = "authorizers: behind a real proxy";
const SHARED = {
  listen: { host: "127.0.0.1", port: 0 },
  callers: ["127.0.0.1"],
  decisionTimeout: 10_000,
  log: { ...silentLog, info: () => undefined, warn: () => undefined },
};
const overHttp = (name: "nginx" | "caddy" | "envoy-http") => {
  const { door, path } = SUB_REQUEST_DOORS[name];
  const listen: Tested<SubRequest, HttpAnswer>["listen"] = (ask) =>
    startAuthorizers({ ...SHARED, doors: new Map([[path, ask]]) });
  return { name, door, listen };
};

describeProxy({
  ...{ ...overHttp("nginx"), isHere: isInstalled("nginx", TESTS), start: startNginx },
  describedBy: ORIGINAL,
});
describeProxy({
  ...{ ...overHttp("caddy"), isHere: isInstalled("caddy", TESTS), start: startCaddy },
  describedBy: [...ORIGINAL, "x-forwarded-method", "x-forwarded-uri"],
});
describeProxy({
  ...{ ...overHttp("envoy-http"), isHere: true, start: startEnvoy, speaksHttp2: true },
  describedBy: [...ORIGINAL, "x-original-protocol", ...IN_ENVOYS_NAME],
});
describeProxy({
  ...{ name: "envoy-grpc", isHere: true, start: startGrpcEnvoy, speaksHttp2: true },
  describedBy: IN_ENVOYS_NAME,
  door: {
    decode: createCheckReader({ log: SHARED.log }),
    encode: createCheckEncoder({ place: { file: "/run/state.json", epoch: "e-1" } }),
  },
  listen: (check) =>
    startAuthzServer({ listen: SHARED.listen, check, health: new HealthState(), log: SHARED.log }),
});
describeProxy({
  ...{ name: "haproxy", door: haproxy, isHere: isInstalled("haproxy", TESTS), start: startHaproxy },
  speaksHttp2: true,
  listen: (ask) => startSpop({ ...SHARED, ask }),
});

function describeProxy<Message, Answer>({
  name,
  describedBy = [],
  speaksHttp2 = false,
  isHere,
  start,
  door,
  listen,
}: Tested<Message, Answer>): void {
  if (!isHere) return;
  describe(`authorizers: behind a real ${name}`, () => {
    const idp = useIssuer();
    const serve = useServedDoors(idp);
    let forwarded: {
      readonly user: unknown;
      readonly url: unknown;
      readonly from: unknown;
      readonly isMisled: boolean;
    }[] = [];
    let described: string[] = [];
    let app: Server;
    let workers: Pick<Authorizers, "port" | "close">[];
    const asked = [0, 0];
    let proxy: Proxy;
    let served: ReturnType<typeof serveNow>;
    const serveNow = () => serve(door, { policies: snapshotOf(TABLE.policies) });

    before(async () => {
      app = createServer((request, response) => {
        const { "x-user-id": user, "x-forwarded-for": from, "x-forwarded-host": host } = request.headers;
        const isMisled = host !== undefined && host !== request.headers.host;
        forwarded.push({ user, url: request.url, from, isMisled });
        described.push(...Object.keys(request.headers).filter((header) => describedBy.includes(header)));
        response.end("from the application");
      });
      await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
      workers = await Promise.all(
        [0, 1].map((index) =>
          listen((message, call) => {
            asked[index] = (asked[index] ?? 0) + 1;
            return served.answerTo(message, call);
          }),
        ),
      );
      const [first, second] = workers.map(({ port }) => port) as [number, number];
      proxy = await start({ authz: [first, second], app: (app.address() as AddressInfo).port });
    });
    after(async () => {
      await proxy.stop();
      await Promise.all(workers.map((worker) => worker.close(0)));
      app.close();
    });
    beforeEach(() => {
      forwarded = [];
      described = [];
      served = serveNow();
    });

    for (const one of TABLE.requests)
      it(titleOf(one), async () => {
        const { token, line } = one;
        const own = token === undefined ? [] : [bearer(await idp.token({ sub: token })).join(": ")];
        const answer = await sendRaw(proxy.port, requestOf(one, own));
        const expected = expectedAt(name, one);
        const permitted = expected === "CONDITION_TRUE";
        const recorded = await served.recorded();
        const verdict = `${permitted ? "ALLOW" : "DENY"} ${expected}`;
        assert.deepEqual(recorded, expected === REFUSED ? [] : [verdict]);
        assert.equal(answer.status < 300, permitted, String(answer.status));
        const url = lineOf(line)[1].replace(/^http:\/\/[^/]*/, "");
        assert.deepEqual(
          forwarded,
          permitted ? [{ user: token, url, from: "127.0.0.1", isMisled: false }] : [],
        );
      });

    if (speaksHttp2)
      it("HTTP/2: decides on the path and the host that are forwarded", async () => {
        const own = bearer(await idp.token({ sub: "u-1" }))[1];
        const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
          const session = connect(`http://127.0.0.1:${proxy.port}`);
          try {
            const stream = session.request({ ":path": path, ":authority": "app.test", ...headers });
            const [response] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
            return response[":status"];
          } finally {
            session.close();
          }
        };
        const statuses = [];
        for (const path of ["/public?x=1", "/host", "/files//private/x", "/nothing"])
          statuses.push(await ask(path));
        statuses.push(await ask("/me", { authorization: own }), await ask("/me"));
        // not what the client says, but how it is connected
        statuses.push(await ask("/scheme", { ":scheme": "https" }));
        assert.deepEqual(statuses, [200, 200, 400, 403, 200, 401, 403]);
        assert.deepEqual(
          forwarded.map(({ url, user }) => [url, user]),
          [
            ["/public?x=1", undefined],
            ["/host", undefined],
            ["/me", "u-1"],
          ],
        );
      });

    if (describedBy.length > 0)
      it("forwards nothing that a client sends under the names that describe a request", async () => {
        for (const header of describedBy) {
          const one = { line: "GET /public", headers: [`${header}: evil`], reason: "" };
          await sendRaw(proxy.port, requestOf(one, []));
        }
        assert.ok(forwarded.length > 0);
        assert.deepEqual(described, []);
      });

    it("forwards a WebSocket handshake that the path rules permit, and no other upgrade", async () => {
      served = serve(door, {
        policies: snapshotOf(`policies: [{ resource: "* /feed", condition: "true" }]`),
      });
      const upgraded: unknown[] = [];
      app.on("upgrade", ({ url }, socket) => {
        upgraded.push(url);
        socket.end(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        );
      });
      const handshake = (connection: string, method = "GET", upgrade = "websocket") =>
        sendRaw(
          proxy.port,
          [
            `${method} /feed HTTP/1.1`,
            "Host: app.test",
            `Connection: ${connection}`,
            `Upgrade: ${upgrade}`,
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Content-Length: 0",
            "\r\n",
          ].join("\r\n"),
          3_000,
        ).then(
          ({ status }) => status,
          () => "nothing",
        );
      const statuses = [await handshake("Upgrade"), await handshake("keep-alive, upgrade")];
      assert.deepEqual(statuses, [101, 101]);
      assert.deepEqual(upgraded.splice(0), ["/feed", "/feed"]);
      for (const [connection, method, upgrade] of [
        ["close", "GET", "websocket"],
        ["upgrade", "POST", "websocket"],
        ["upgrade", "GET", "other"],
        ["Upgrade, HTTP2-Settings", "GET", "h2c"],
        // what one header has at its end is not the beginning of the other
        ["upgrade", "GET", "websocket ,"],
        ["upgrade", "GET", "websocket x,"],
        ["keep-alive", "GET", "websocket upgrade,"],
      ] as const) {
        assert.notEqual(
          await handshake(connection, method, upgrade),
          101,
          `${connection} ${method} ${upgrade}`,
        );
        assert.deepEqual(upgraded, []);
      }
      app.removeAllListeners("upgrade");
    });

    it("asks all workers", () => {
      assert.ok(
        asked.every((count) => count > 0),
        asked.join(),
      );
    });
  });
}
