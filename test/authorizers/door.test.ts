import assert from "node:assert/strict";
import type { HttpAnswer } from "../../src/authorizers/answer.ts";
import { caddy } from "../../src/authorizers/caddy.ts";
import { envoyHttp } from "../../src/authorizers/envoy-http.ts";
import { haproxy } from "../../src/authorizers/haproxy.ts";
import { nginx } from "../../src/authorizers/nginx.ts";
import { traefik } from "../../src/authorizers/traefik.ts";
import type { Door } from "../../src/decision/point/index.ts";
import { describeDoor } from "../decision/point/support/door-contract.ts";
import { PREFLIGHT } from "../decision/point/support/door-fixtures.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { createIdentityHeaders } from "../../src/decision/headers/identity-headers.ts";
import { bearer, snapshotOf, useIssuer } from "../decision/support.ts";
import {
  fromEnvoy,
  fromHaproxy,
  fromTraefik,
  listed,
  subRequest,
  text,
  valueOf,
  withRequestLine,
  type Headers,
} from "./support/messages.ts";

const DOORS = [
  ["nginx", nginx, withRequestLine, (status: number) => (status === 401 || status >= 500 ? status : 403)],
  ["caddy", caddy, withRequestLine, (status: number) => status],
  ["traefik", traefik, fromTraefik, (status: number) => status],
  ["envoy-http", envoyHttp, fromEnvoy, (status: number) => (status >= 500 ? 403 : status)],
] as const;

for (const [name, door, ask, statusOf] of DOORS)
  describeDoor(name, {
    door,
    message: ask,
    unreadable: subRequest([]),
    statusOf,
    read: ({ status, headers, body }) =>
      status === 200
        ? { permitted: true, set: Object.fromEntries(headers), remove: [] }
        : { permitted: false, status, body },
  });

describeDoor("haproxy", {
  door: haproxy,
  message: fromHaproxy,
  unreadable: new Map(),
  read: ({ status, headers, body }) =>
    status === 200
      ? { permitted: true, set: Object.fromEntries(headers), remove: [] }
      : { permitted: false, status, body },
});

describe("authorizers: doors", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);

  for (const [name, door, ask, statusOf] of DOORS)
    describe(name, () => {
      it("refuses a message in which a description is missing or repeated", async () => {
        const message = ask("/public", []);
        const full = message.headers;
        assert.equal((await serve(door).ask(message)).status, 200);
        for (const entry of full.filter(
          ([header]) => name !== "envoy-http" || header !== "x-forwarded-for",
        )) {
          const { ask: decide, recorded } = serve(door);
          assert.equal(
            (await decide({ ...message, headers: full.filter((one) => one !== entry) })).status,
            statusOf(500),
            entry[0],
          );
          const repeated = { ...message, headers: [...full, entry] };
          assert.equal((await decide(repeated)).status, statusOf(500), entry[0]);
          assert.deepEqual(await recorded(), ["DENY INTERNAL_ERROR", "DENY INTERNAL_ERROR"]);
        }
      });

      it("refuses a list of addresses, and a scheme that is none", async () => {
        const message = ask("/public", []);
        const bent = (value: string, other: string) => ({
          ...message,
          headers: message.headers.map(([header, text]) => [header, text === value ? other : text] as const),
        });
        const { ask: decide } = serve(door);
        assert.equal((await decide(bent("192.0.2.7", "192.0.2.7, 10.0.0.1"))).status, statusOf(500));
        assert.equal((await decide(bent("https", "wss"))).status, statusOf(500));
      });

      it("never answers a denial with a status that the proxy takes for a permit", async () => {
        const policies = snapshotOf(`
cors: { origins: ["https://app.test"], methods: [PUT] }
policies:
  - { resource: "PUT /x", condition: "false" }
`);
        const { ask: decide, recorded } = serve(door, { policies });
        const { status } = await decide(ask("/x", PREFLIGHT.slice(0, 2), "OPTIONS"));
        assert.deepEqual(await recorded(), ["DENY PREFLIGHT_ANSWERED"]);
        assert.equal(status, 403);
      });

      it("does not know headers of which a sub-request has its own", async () => {
        for (const header of ["content-length", "transfer-encoding", "te", "keep-alive"]) {
          const policies = snapshotOf(
            `policies: [{ resource: GET /x, condition: 'not exists(request.headers["${header}"])' }]`,
          );
          const { ask: decide, recorded } = serve(door, { policies });
          await decide(ask("/x", []));
          assert.deepEqual(await recorded(), ["DENY CONDITION_UNKNOWN"], header);
        }
      });

      it("denies what a client sends to be removed, or to look like another name", async () => {
        for (const [header, reason] of [
          [["x_user_id", "1"], "AMBIGUOUS_HEADERS"],
          [["x-user-id", "1"], "PLAN_NOT_ENFORCEABLE"],
          [["connection", "x-user-id"], "AMBIGUOUS_HEADERS"],
        ] as const) {
          const { ask: decide, recorded } = serve(door);
          assert.equal((await decide(ask("/public", [header]))).status >= 400, true, header[0]);
          assert.deepEqual(await recorded(), [`DENY ${reason}`]);
        }
      });
    });

  it("denies what only Envoy may say, where nothing has removed a client's", async () => {
    for (const [name, door, ask] of DOORS) {
      const { ask: decide, recorded } = serve(door);
      await decide(ask("/public", [["x-envoy-original-path", "/admin"]]));
      assert.deepEqual(
        await recorded(),
        [name === "envoy-http" ? "ALLOW CONDITION_TRUE" : "DENY PLAN_NOT_ENFORCEABLE"],
        name,
      );
    }
  });

  it("nginx: sends no denial but 401, 403 and failures, which nginx knows", async () => {
    const { ask, recorded } = serve(nginx);
    const statuses = [];
    for (const path of ["/public", "/me", "/nothing", "/a/..%2fb", "/body"])
      statuses.push((await ask(withRequestLine(path, []))).status);
    assert.deepEqual(statuses, [200, 401, 403, 403, 503]);
    assert.equal((await recorded()).length, 5);
  });

  it("denies a header of the client that the answer would have to replace", async () => {
    const identityHeaders = createIdentityHeaders([["x-name", ["user", "id"]]]);
    for (const [name, door, ask] of DOORS) {
      const { ask: decide, recorded } = serve(door, { serving: { identityHeaders } });
      const token = bearer(await idp.token({ sub: "u-1" }));
      assert.ok((await decide(ask("/me", [token, ["x-name", "u-9"]]))).status >= 400, name);
      assert.deepEqual(await recorded(), ["DENY PLAN_NOT_ENFORCEABLE"]);
    }
  });

  it("refuses two tokens that a proxy has joined into one Authorization, in either order", async () => {
    const tokens = [await idp.token({ sub: "u-1" }), await idp.token({ sub: "u-2" })] as const;
    const headers: Headers = [tokens, tokens.toReversed()].flatMap(([first, second]) =>
      [
        `Bearer ${first}, Bearer ${second}`,
        `Bearer ${first},Bearer ${second}`,
        `Bearer ${first}, ${second}`,
      ].map((value) => ["authorization", value] as const),
    );
    const refuses = async <Message>(
      name: string,
      door: Door<Message, HttpAnswer>,
      ask: (path: string, headers: Headers) => Message,
    ) => {
      for (const header of headers)
        for (const path of ["/me", "/public"]) {
          const { ask: decide, recorded } = serve(door);
          assert.ok((await decide(ask(path, [header]))).status >= 400, name);
          assert.match((await recorded()).join(), /^DENY (AMBIGUOUS_HEADERS|TOKEN_MALFORMED)$/, name);
        }
    };
    for (const [name, door, ask] of DOORS) await refuses(name, door, ask);
    await refuses("haproxy", haproxy, fromHaproxy);
  });

  it("refuses a target that can only be one that the proxy has decoded", async () => {
    for (const target of [
      "/files/a b",
      "/files/a\u00e9",
      "/files/a%",
      "/files/a\tb",
      "/files/a\u0000",
      "/files/a#b",
    ]) {
      const { ask, recorded } = serve(nginx, {
        policies: snapshotOf(`policies: [{ resource: "GET /files/**", condition: "true" }]`),
      });
      assert.ok((await ask(withRequestLine(target, []))).status >= 400, target);
      assert.match((await recorded()).join(), /^DENY /);
    }
  });

  it("sends values in UTF-8", async () => {
    const { ask } = serve(nginx);
    const { headers } = await ask(withRequestLine("/me", [bearer(await idp.token({ sub: "Łukasz" }))]));
    assert.equal(Buffer.from(valueOf(headers, "x-user-id"), "latin1").toString("utf8"), "Łukasz");
  });

  it("caddy: a permit has every header that Caddy may copy, empty without a value", async () => {
    const { headers } = await serve(caddy).ask(withRequestLine("/public", []));
    assert.deepEqual(
      headers.filter(([name]) => name === "x-user-id"),
      [["x-user-id", ""]],
    );
  });

  it("traefik: permits with what the entry point sets for every request, and with nothing that a client sends", async () => {
    const older: Headers = [
      ["x-real-ip", "192.0.2.7"],
      ["x-forwarded-port", "443"],
      ["x-forwarded-server", "edge-1"],
    ];
    for (const entryPoint of [older, older.slice(1, 2)]) {
      const { ask, recorded } = serve(traefik);
      assert.equal((await ask(fromTraefik("/public", entryPoint))).status, 200);
      assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE"]);
      // where the question has these, they are the client's
      for (const sent of ["x-scheme", "x-forwarded-scheme", "x-forwarded-prefix", "x-client-ip"]) {
        const one = serve(traefik);
        await one.ask(fromTraefik("/public", [...entryPoint, [sent, "https"]]));
        assert.deepEqual(await one.recorded(), ["DENY PLAN_NOT_ENFORCEABLE"], sent);
      }
    }
  });

  it("traefik: which protocol the client speaks is unknown", async () => {
    const policies = snapshotOf(
      `policies: [{ resource: "GET /x", condition: 'request.protocol != "HTTP/1.0"' }]`,
    );
    const { ask, recorded } = serve(traefik, { policies });
    await ask(fromTraefik("/x", []));
    assert.deepEqual(await recorded(), ["DENY CONDITION_UNKNOWN"]);
  });

  it("haproxy: takes the path out of the URL that it makes of an HTTP/2 request, and of no other", async () => {
    const policies = snapshotOf(`policies: [{ resource: "GET /public", condition: "true" }]`);
    for (const [version, target, reason] of [
      ["2.0", "https://app.test/public", "CONDITION_TRUE"],
      ["3.0", "http://app.test/public?x=1", "CONDITION_TRUE"],
      ["2.0", "/public", "CONDITION_TRUE"],
      ["2.0", "https://app.test/private", "NO_MATCHING_RULE"],
      ["2.0", "https://app.test//public", "AMBIGUOUS_PATH"],
      ["2.0", "https://evil.test/public", "AMBIGUOUS_PATH"],
      ["2.0", "https://app.test:80/public", "AMBIGUOUS_PATH"],
      ["2.0", "https://u@app.test/public", "AMBIGUOUS_PATH"],
      ["2.0", "https://app.test", "AMBIGUOUS_PATH"],
      ["2.0", "ftp://app.test/public", "AMBIGUOUS_PATH"],
      ["1.1", "https://app.test/public", "AMBIGUOUS_PATH"],
      ["1.0", "http://app.test/public", "AMBIGUOUS_PATH"],
    ] as const) {
      const { ask, recorded } = serve(haproxy, { policies });
      const asked = new Map([...fromHaproxy(target, []), ["version", text(version)]]);
      assert.equal((await ask(asked)).status === 200, reason === "CONDITION_TRUE", target);
      assert.match((await recorded()).join(), new RegExp(`^(ALLOW|DENY) ${reason}$`), `${version} ${target}`);
    }
  });

  it("haproxy: refuses a message in which an argument is missing or of another type, or headers are cut", async () => {
    const { ask } = serve(haproxy);
    const full = fromHaproxy("/public", []);
    assert.equal((await ask(full)).status, 200);
    for (const name of full.keys()) {
      assert.equal((await ask(new Map([...full].filter(([one]) => one !== name)))).status, 500, name);
      assert.equal((await ask(new Map([...full, [name, 7]]))).status, 500, name);
    }
    const headers = listed([["host", "app.test"]]);
    for (const bent of [
      headers.subarray(0, -1),
      headers.subarray(0, -2),
      Buffer.concat([headers, text("x")]),
    ])
      assert.equal((await ask(new Map([...full, ["headers", bent]]))).status, 500);
    const twoHosts = listed([
      ["host", "a.test"],
      ["host", "b.test"],
    ]);
    assert.equal((await ask(new Map([...full, ["headers", twoHosts]]))).status, 500);
  });
});
