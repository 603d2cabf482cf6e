import assert from "node:assert/strict";
import { extractToken, type ExtractedToken } from "../../src/identity/index.ts";

type Headers = Record<string, readonly string[]>;

const extract = (headers: Headers, options: { trustedProxy?: boolean; cookie?: string } = {}) =>
  extractToken(Object.assign(Object.create(null) as Headers, headers), { trustedProxy: false, ...options });
const short = (found: ExtractedToken) => ("token" in found ? `${found.kind} ${found.token}` : found.kind);

describe("identity: where the token is", () => {
  const authorization: Record<string, string> = {
    "Bearer a.b.c": "bearer a.b.c",
    "bearer a.b.c": "bearer a.b.c",
    "BEARER a.b.c": "bearer a.b.c",
    "Bearer    a.b.c": "bearer a.b.c",
    "  Bearer a.b.c\t": "bearer a.b.c",
    "Bearer AZaz09-._~+/==": "bearer AZaz09-._~+/==",
    Bearer: "malformed",
    "Bearer ": "malformed",
    "Bearer\ta.b.c": "malformed",
    "Bearer=a.b.c": "malformed",
    "Bearer:a.b.c": "malformed",
    "Bearer, a.b.c": "malformed",
    "Bearer a b": "malformed",
    "Bearer a,b": "malformed",
    "Bearer a, Bearer b": "malformed",
    'Bearer "a"': "malformed",
    "Bearer a=b": "malformed",
    "Bearer =": "malformed",
    "Bearer ä": "malformed",
    "Bearer a\u0000": "malformed",
    "Bearer a\nb": "malformed",
    "": "none",
    "Basic dXNlcjpw": "none",
    "Negotiate a.b.c": "none",
    "BearerX a.b.c": "none",
    "Bearer-Token a.b.c": "none",
    "DPoP a.b.c": "none",
    "a.b.c": "none",
  };
  for (const [value, expected] of Object.entries(authorization)) {
    it(`Authorization: ${JSON.stringify(value)} is ${expected}`, () => {
      assert.equal(short(extract({ authorization: [value] })), expected);
    });
  }

  it("is none without headers", () => {
    assert.equal(short(extract({}, { trustedProxy: true, cookie: "session" })), "none");
  });
  it("is malformed when Authorization is repeated", () => {
    assert.equal(short(extract({ authorization: ["Bearer a", "Bearer a"] })), "malformed");
    assert.equal(short(extract({ authorization: ["Basic a", "Bearer a"] })), "malformed");
  });

  const proxy: Record<string, string> = {
    "Bearer a.b.c": "proxy a.b.c",
    "bearer  a.b.c": "proxy a.b.c",
    "a.b.c": "proxy a.b.c",
    " a.b.c ": "proxy a.b.c",
    Bearer: "malformed",
    "Bearer a, Bearer b": "malformed",
    "Basic dXNlcjpw": "none",
    "": "none",
  };
  for (const [value, expected] of Object.entries(proxy)) {
    it(`X-User-Token: ${JSON.stringify(value)} from a trusted proxy is ${expected}, whatever Authorization says`, () => {
      const headers = { "x-user-token": [value], authorization: ["Bearer proxy.own.token"] };
      assert.equal(short(extract(headers, { trustedProxy: true })), expected);
    });
  }
  it("takes no notice of X-User-Token from anybody else", () => {
    assert.equal(short(extract({ "x-user-token": ["Bearer forged"] })), "none");
    assert.equal(short(extract({ "x-user-token": ["forged"], authorization: ["Bearer a"] })), "bearer a");
  });
  it("is malformed when X-User-Token is repeated", () => {
    assert.equal(short(extract({ "x-user-token": ["a", "b"] }, { trustedProxy: true })), "malformed");
  });
  it("looks at Authorization where a trusted proxy sends no X-User-Token", () => {
    assert.equal(short(extract({ authorization: ["Bearer a"] }, { trustedProxy: true })), "bearer a");
  });

  const cookies: [string[], string][] = [
    [["session=a.b.c"], "cookie a.b.c"],
    [["x=1; session=a.b.c; y=2"], "cookie a.b.c"],
    [["x=1;session=a.b.c"], "cookie a.b.c"],
    [["x=1", "session=a.b.c"], "cookie a.b.c"],
    [['session="a.b.c"'], "cookie a.b.c"],
    [["session="], "none"],
    [["session"], "none"],
    [["Session=a"], "none"],
    [["xsession=a"], "none"],
    [["x=session=a"], "none"],
    [["session=a b"], "malformed"],
    [["session=a; session=b"], "malformed"],
    [["session=a; session=a"], "malformed"],
    [["session=a; session="], "malformed"],
    [["session=a", "session=b"], "malformed"],
  ];
  for (const [values, expected] of cookies) {
    it(`Cookie: ${JSON.stringify(values)} is ${expected}`, () => {
      assert.equal(short(extract({ cookie: values }, { cookie: "session" })), expected);
    });
  }
  it("reads no cookie unless one is configured", () => {
    assert.equal(short(extract({ cookie: ["session=a"] })), "none");
  });
  it("prefers what was sent on purpose to the cookie", () => {
    const cookie = { cookie: ["session=b"] };
    assert.equal(
      short(extract({ ...cookie, authorization: ["Bearer a"] }, { cookie: "session" })),
      "bearer a",
    );
    assert.equal(
      short(extract({ ...cookie, authorization: ["Bearer"] }, { cookie: "session" })),
      "malformed",
    );
    assert.equal(
      short(extract({ ...cookie, authorization: ["Basic x"] }, { cookie: "session" })),
      "cookie b",
    );
    const proxied = { ...cookie, "x-user-token": ["a"] };
    assert.equal(short(extract(proxied, { cookie: "session", trustedProxy: true })), "proxy a");
  });

  it("reads long headers in one pass", () => {
    const blank = " ".repeat(1_000_000);
    assert.equal(short(extract({ authorization: [`Bearer a${blank}b`] })), "malformed");
    assert.equal(short(extract({ authorization: [`Bearer ${"a".repeat(1_000_000)}!`] })), "malformed");
    assert.equal(short(extract({ cookie: [`session=a${blank}b`] }, { cookie: "session" })), "malformed");
  });

  it("never repeats the token in what it says", () => {
    const found = extract({ authorization: ["Bearer secret, Bearer secret"] });
    assert.ok(found.kind === "malformed" && !found.detail.includes("secret"));
  });
});
