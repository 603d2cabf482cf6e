import assert from "node:assert/strict";
import fc from "fast-check";
import { isSensitiveName, sanitize, sanitizeValue } from "../../src/text/index.ts";

const base64url = (value: object, space?: number) =>
  Buffer.from(JSON.stringify(value, null, space)).toString("base64url");
const HEADER = base64url({ alg: "RS256", kid: "k1" });
const CLAIMS = base64url({ sub: "alice", exp: 1 });
const SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
const JWS = `${HEADER}.${CLAIMS}.${SIGNATURE}`;

describe("text: names of what holds a credential", () => {
  for (const name of ["Authorization", "set-cookie", "id_token", "x-api-key", "passwd", "privateKey"])
    it(`knows ${name}`, () => {
      assert.equal(isSensitiveName(name), true);
    });
  for (const name of ["role", "department", "x-team", ""])
    it(`does not take ${JSON.stringify(name)} for one`, () => {
      assert.equal(isSensitiveName(name), false);
    });
});

describe("text: sanitize", () => {
  const hidden: Record<string, [string, string]> = {
    "a token": [JWS, "***"],
    "a token in a sentence": [`the token ${JWS} is bad`, "the token *** is bad"],
    "a token behind other text": [`x${JWS}`, "x***"],
    "a token in a path": [`/a/${JWS}/b`, "/a/***/b"],
    "an unsecured token": [`${base64url({ alg: "none" })}.${CLAIMS}.`, "***"],
    "an encrypted token": [`${HEADER}.${SIGNATURE}.${SIGNATURE}.${SIGNATURE}.${SIGNATURE}`, "***"],
    "a token cut short": [`"${HEADER}.${CLAIMS.slice(0, 9)}`, '"***'],
    "claims alone": [`.${CLAIMS}`, ".***"],
    "a token with a pretty-printed header": [
      `${base64url({ alg: "RS256" }, 2)}.${CLAIMS}.${SIGNATURE}`,
      "***",
    ],
    "a percent-encoded token": [`/%65%79%4a${JWS.slice(3).replaceAll(".", "%2E")}`, "/***"],
    "bearer credentials": ["Authorization was Bearer abc.def~+/=", "Authorization was ***"],
    "bearer credentials in any spelling": [
      'BEARER%20abc bEaReR\tabc bearer:abc \'bearer "abc"',
      "*** *** *** '***\"",
    ],
    "basic credentials": ["Basic dXNlcjpwYXNz", "***"],
    "DPoP credentials": [`DPoP ${JWS}`, "***"],
    parameters: ["?access_token=abc&client_secret=d%20e&x=1", "?access_token=***&client_secret=***&x=1"],
    "members of JSON": ['{"refresh_token": "abc", "a": "b"}', '{"refresh_token": "***", "a": "b"}'],
    "a password": ["password='abc' api-key=abc", "password='***' api-key=***"],
    "a value behind another's name": ["a=token=abc&x=y", "a=token=***&x=y"],
    "a value with a name in it": ["token=secret=abc&x=y", "token=***&x=y"],
    "a value behind a name with more to it": [
      `my-token${"-x".repeat(40)}=abc`,
      `my-token${"-x".repeat(40)}=***`,
    ],
  };
  for (const [name, [text, expected]] of Object.entries(hidden)) {
    it(`hides ${name}`, () => {
      assert.equal(sanitize(text, 1000), expected);
    });
  }

  const kept = [
    "/api/customers/7/orders",
    "a bearer token is required",
    "the bearer token: malformed",
    "keyJournal.entries.list",
    "service.namespace.svc.cluster.local",
    "eyewear.example.com",
    "https://idp.example/realms/a?scope=openid",
    "José · 東京 · 🙂",
    "a=b; c:d",
    "dec_01k0000000abcdefghjkmnpqrs",
  ];
  for (const text of kept) {
    it(`keeps ${text}`, () => {
      assert.equal(sanitize(text, 1000), text);
    });
  }

  it("spells out what cannot be seen", () => {
    const text = "a\0b\u001bc\u007fd\u0085e\u2028f\u2029g\u202eh\u2066i\u200bj\ufeffk\ud800l\u{e0041}";
    const expected =
      "a\\u{0}b\\u{1b}c\\u{7f}d\\u{85}e\\u{2028}f\\u{2029}g\\u{202e}h\\u{2066}i\\u{200b}j\\u{feff}k\\u{d800}l\\u{e0041}";
    assert.equal(sanitize(text, 1000), expected);
  });

  it("bounds the length and says so", () => {
    assert.equal(sanitize("a".repeat(100), 10), "aaaaaaa...");
    assert.equal(sanitize("a".repeat(10), 10), "a".repeat(10));
    assert.equal(sanitize("🙂".repeat(10), 10), `${"🙂".repeat(3)}\ufffd...`);
  });

  it("gives printable text without the secret, wherever it stands", () => {
    const around = fc.oneof(fc.string({ unit: "binary" }), fc.string());
    fc.assert(
      fc.property(
        around,
        fc.constantFrom(JWS, "Bearer s3cr3t"),
        around,
        fc.integer({ min: 8, max: 400 }),
        (a, secret, b, max) => {
          const safe = sanitize(`${a} ${secret} ${b}`, max);
          assert.ok(safe.length <= max);
          assert.doesNotMatch(safe, /[\p{C}\p{Zl}\p{Zp}]/u);
          assert.ok(!safe.includes(SIGNATURE) && !safe.includes(CLAIMS) && !safe.includes("s3cr3t"), safe);
          assert.equal(sanitize(safe, max), safe, "once is enough");
        },
      ),
    );
  });

  it("takes time in proportion to the text", () => {
    // each of these makes a careless pattern look at the rest of the text from every position
    const hostile = [
      "eyJ",
      "-eyJ",
      "ew.",
      "token",
      "a-",
      "bearer ",
      "bearer",
      'token="',
      "token=a",
      "token-token",
      "token =",
      'token" : ',
      "%",
      "%65%79",
      ";a",
      "=",
      "basic:",
    ];
    // a quadratic pattern needs minutes for this
    for (const text of hostile) {
      const long = text.repeat(200_000 / text.length);
      assert.ok(sanitize(long, long.length).length <= long.length);
    }
  });

  it("copies plain data, hides by name, and goes no deeper than it must", () => {
    assert.deepEqual(
      sanitizeValue({
        list: [1, true, null, undefined, 10n, Number.NaN, "a\u0007"],
        Authorization: ["x"],
        "x-api-key": 5,
        token_required: true,
        entry: { attribute: 'request.headers["cookie"]', value: ["id=1"], result: false },
        path: { path: ["request", "headers", "authorization"], actual: { a: 1 } },
        other: { attribute: "user.role", value: "admin" },
        none: undefined,
      }),
      {
        list: [1, true, null, null, "10", null, "a\\u{7}"],
        Authorization: "***",
        "x-api-key": "***",
        token_required: true,
        entry: { attribute: 'request.headers["cookie"]', value: "***", result: false },
        path: { path: ["request", "headers", "authorization"], actual: "***" },
        other: { attribute: "user.role", value: "admin" },
      },
    );
    const own = sanitizeValue(JSON.parse('{"__proto__":{"a":1}}')) as object;
    assert.deepEqual(Object.keys(own), ["__proto__"]);
  });

  it("says what an error says, without what is secret in it", () => {
    const error = new TypeError(`Bearer ${JWS} is bad`, { cause: new Error("password=hunter2") });
    error.stack = `TypeError: Bearer ${JWS} is bad\n    at somewhere`;
    Object.assign(error, { code: "E1", token: "x" });
    assert.deepEqual(sanitizeValue({ err: error }), {
      err: {
        type: "TypeError",
        message: "*** is bad",
        stack: "TypeError: *** is bad\n    at somewhere",
        cause: { ...(sanitizeValue(error.cause) as object), message: "password=***" },
        code: "E1",
        token: "***",
      },
    });
    const { stack, ...bare } = sanitizeValue(Object.assign(new Error("m"), { stack: undefined })) as Record<
      string,
      unknown
    >;
    assert.deepEqual([stack, bare], [undefined, { type: "Error", message: "m" }]);
  });

  it("says so of what cannot be read", () => {
    const value = {
      get member(): never {
        throw new Error("no");
      },
    };
    assert.equal(sanitizeValue(value), "unreadable");
  });

  it("never throws, and always gives JSON", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          const copy = sanitizeValue(value);
          assert.equal(JSON.stringify(JSON.parse(JSON.stringify(copy))), JSON.stringify(copy));
        },
      ),
    );
    const circle: unknown[] = [];
    circle.push(circle, circle);
    assert.ok(JSON.stringify(sanitizeValue(circle)).length < 200_000);
  });
});
