import assert from "node:assert/strict";
import {
  createCors,
  preflightHeaders,
  withCors,
  type Cors,
} from "../../../src/decision/headers/cors-headers.ts";

const CORS = {
  origins: ["https://app.test", "null"],
  credentials: false,
  methods: ["GET", "PUT"],
  headers: ["authorization"],
  maxAge: 60,
};

describe("decision: CORS headers of the gateway's own answers", () => {
  const allowed = (cors: Cors, ...origins: string[]) =>
    cors.grant(origins)?.answer.find(([name]) => name === "access-control-allow-origin")?.[1];

  it("name the origin as the set writes it, and none that is not listed", () => {
    const listed = createCors(CORS);
    assert.equal(allowed(listed, "HTTPS://APP.test:443"), "https://app.test");
    assert.equal(allowed(listed, "null"), "null");
    const others = [
      "https://evil.test",
      "https://app.test.evil.test",
      "http://app.test",
      "https://app.test:444",
    ];
    const malformed = ["https://app.test/", "", "app.test", "https://app.test, https://evil.test", "a b"];
    for (const origin of [...others, ...malformed]) assert.equal(allowed(listed, origin), undefined, origin);
    assert.equal(allowed(listed, "https://app.test", "https://app.test"), undefined, "twice");
    assert.equal(allowed(createCors({ ...CORS, origins: ["https://app.test"] }), "null"), undefined);
  });

  it("are for everybody with `*`, but for no request without an origin", () => {
    const open = createCors({ ...CORS, origins: ["*"] });
    for (const origin of ["https://a.test", "null"]) assert.equal(allowed(open, origin), "*");
    for (const origins of [[], ["a b"], ["https://a.test", "https://a.test"]])
      assert.equal(allowed(open, ...origins), undefined);
    assert.equal(open.grant(undefined), undefined);
  });

  it("are added to what the answer says already", () => {
    const cors = createCors({ ...CORS, credentials: true }).grant(["https://app.test"]);
    assert.ok(cors);
    const expected = {
      "access-control-allow-origin": "https://app.test",
      "access-control-allow-credentials": "true",
      "access-control-expose-headers":
        "www-authenticate, retry-after, x-request-id, grpc-status, grpc-message",
    };
    const added = withCors(
      [
        ["vary", "accept"],
        ["cache-control", "no-store"],
      ],
      cors,
    );
    assert.equal(new Set(added.map(([name]) => name)).size, added.length, "a header is given twice");
    assert.deepEqual(Object.fromEntries(added), {
      vary: "accept, origin",
      "cache-control": "no-store",
      ...expected,
    });
    assert.deepEqual(Object.fromEntries(withCors([], cors)), { vary: "origin", ...expected });
  });

  it("answer a preflight with what the set lists, and without a grant with nothing", () => {
    assert.deepEqual(Object.fromEntries(preflightHeaders(createCors(CORS).grant(["https://app.test"]))), {
      "access-control-allow-origin": "https://app.test",
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "authorization",
      "access-control-max-age": "60",
      vary: "origin",
    });
    assert.deepEqual(preflightHeaders(undefined), [["vary", "origin"]]);
    const none = createCors({ ...CORS, methods: [], headers: [] }).grant(["null"]);
    assert.ok(!none?.preflight.some(([name]) => /methods|headers/.test(name)));
  });
});
