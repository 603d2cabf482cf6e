import assert from "node:assert/strict";
import {
  extractToken,
  tokenOfConnection,
  type ExtractedToken,
  type TokenSources,
} from "../../src/identity/index.ts";

const short = (found: ExtractedToken) => ("token" in found ? `${found.kind} ${found.token}` : found.kind);
const PATHS = [["authorization"], ["headers", "authorization"], ["my.token"]];

describe("identity: the token of a connection's first message", () => {
  const find = (payload: string | undefined, more: TokenSources = {}) =>
    tokenOfConnection(`{"type":"connection_init"${payload === undefined ? "" : `,"payload":${payload}`}}`, {
      connectionParams: PATHS,
      ...more,
    });

  const payloads: Readonly<Record<string, string>> = {
    '{"authorization":"Bearer a.b.c"}': "connection a.b.c",
    '{"authorization":"bearer  a.b.c "}': "connection a.b.c",
    '{"authorization":"a.b.c"}': "connection a.b.c",
    '{"\\u0061uthorization":"a.b.c"}': "connection a.b.c",
    '{"authorization":"\\u0061.b.c"}': "connection a.b.c",
    '{"headers":{"authorization":"Bearer a.b.c"}}': "connection a.b.c",
    '{"my.token":"a.b.c"}': "connection a.b.c",
    '{"authorization":"a.b.c","headers":{"authorization":"Bearer a.b.c"},"my.token":null}':
      "connection a.b.c",
    '{"other":1e999,"authorization":"a.b.c"}': "connection a.b.c",
    '{"token":"a.b.c"}': "none",
    '{"headers":{"x":{"authorization":"a.b.c"}}}': "none",
    '{"authorization":null}': "none",
    '{"authorization":""}': "none",
    '{"authorization":"Basic dXNlcjpw"}': "none",
    '{"headers":"authorization"}': "none",
    "{}": "none",
    null: "none",
    '"a.b.c"': "none",
    "[]": "none",
    '{"authorization":"Bearer"}': "malformed",
    '{"authorization":"Bearer "}': "malformed",
    '{"authorization":"Bearer a b"}': "malformed",
    '{"authorization":7}': "malformed",
    '{"authorization":false}': "malformed",
    '{"authorization":["a.b.c"]}': "malformed",
    '{"authorization":{"a":"b"}}': "malformed",
    '{"authorization":"a.b.c","authorization":"a.b.c"}': "malformed",
    '{"authorization":"a.b.c","\\u0061uthorization":"a.b.c"}': "malformed",
    '{"headers":{"authorization":"a","authorization":"a"}}': "malformed",
    '{"authorization":"a.b.c","headers":{"authorization":"d.e.f"}}': "malformed",
    '{"authorization":"a.b.c","my.token":7}': "malformed",
    '{"Authorization":"a.b.c"}': "malformed",
    '{"authorization":"a.b.c","AUTHORIZATION":null}': "malformed",
    '{"Headers":{"authorization":"a.b.c"}}': "malformed",
    '{"headers":{"Authorization":"a.b.c"}}': "malformed",
    '{"headers.authorization":"a.b.c"}': "malformed",
    '{"my":{"token":"a.b.c"},"my_token":"a.b.c"}': "malformed",
    '[{"authorization":"a.b.c"}]': "malformed",
    '{"authorization":"a.b.c"': "malformed",
    "{'authorization':'a.b.c'}": "malformed",
  };
  for (const [payload, expected] of Object.entries(payloads))
    it(`${payload} is ${expected}`, () => {
      assert.equal(short(find(payload)), expected);
    });

  it("is none without a payload", () => {
    assert.equal(short(find(undefined)), "none");
  });

  it("is in no other message", () => {
    for (const text of [
      '{"type":"subscribe","payload":{"authorization":"a"}}',
      '{"payload":{"authorization":"a"}}',
      '[{"type":"connection_init","payload":{"authorization":"a"}}]',
      '{"type":"connection_init","type":"connection_init","payload":{"authorization":"a"}}',
      "",
      "connection_init",
      `{"type":"connection_init","payload":${"[".repeat(201)}${"]".repeat(201)}}`,
    ])
      assert.equal(short(tokenOfConnection(text, { connectionParams: PATHS })), "malformed", text);
  });

  it("may be in several spellings, if they are all configured", () => {
    const connectionParams = [["authorization"], ["Authorization"]];
    assert.equal(short(find('{"Authorization":"a"}', { connectionParams })), "connection a");
    assert.equal(short(find('{"Authorization":"a","authorization":"b"}', { connectionParams })), "malformed");
  });

  it("may be the application's own", () => {
    const foreignTo = "https://login.example.com";
    assert.equal(short(find('{"authorization":"opaque"}', { foreignTo })), "foreign");
    assert.equal(short(find('{"authorization":"opaque"}')), "connection opaque");
  });

  it("must be that of the handshake, wherever that was, valid or not", () => {
    const options = {
      ...{ trustedProxy: true, cookie: "session", header: "x-jwt", alb: true, websocketProtocol: "bearer." },
    };
    const with_ = (headers: Record<string, readonly string[]>, ofConnection: ExtractedToken) =>
      short(extractToken(headers, { ...options, ofConnection }));
    const [a, b]: ExtractedToken[] = ["a", "b"].map((token) => ({ kind: "connection", token }));
    const bad: ExtractedToken = { kind: "malformed", detail: "" };
    for (const headers of [
      { authorization: ["Bearer a"] },
      { "x-user-token": ["a"] },
      { cookie: ["session=a"] },
      { "x-jwt": ["a"] },
      { "x-amzn-oidc-data": ["a"] },
      { "sec-websocket-protocol": ["bearer.a, v1"] },
    ]) {
      assert.equal(with_(headers, a!), "connection a");
      assert.equal(with_(headers, b!), "malformed");
      assert.equal(with_(headers, bad), "malformed");
      assert.equal(with_(headers, { kind: "foreign" }), "malformed");
      assert.notEqual(with_(headers, { kind: "none" }), "malformed");
    }
    assert.equal(with_({ cookie: ["session=a; session=a"] }, a!), "malformed");
    assert.equal(with_({}, a!), "connection a");
    assert.equal(with_({}, bad), "malformed");
    assert.equal(with_({}, { kind: "none" }), "none");
    const foreignTo = "https://login.example.com";
    const own = { authorization: ["Bearer opaque"] };
    assert.equal(short(extractToken(own, { ...options, foreignTo, ofConnection: a! })), "malformed");
    assert.equal(
      short(extractToken(own, { ...options, foreignTo, ofConnection: { kind: "foreign" } })),
      "foreign",
    );
  });
});
