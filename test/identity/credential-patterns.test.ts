import assert from "node:assert/strict";
import { credentialPatterns, extractToken } from "../../src/identity/index.ts";

const COOKIE = "a.b$c^d|e*f+g";
const PREFIX = "base64url.bearer.authorization.k8s.io.";
const ENCODED = Buffer.from("a.b.c").toString("base64url");

/** By what the headers hold; what is malformed may match or not. */
const HEADERS: Readonly<Record<"token" | "none" | "malformed", readonly (readonly [string, string])[]>> = {
  token: [
    ["authorization", "Bearer x"],
    ["authorization", "bEaReR   a.b.c=="],
    ["authorization", " Bearer x\t"],
    ["x-user-token", "x"],
    ["x-user-token", "Bearer x"],
    ["cookie", `${COOKIE}=x`],
    ["cookie", `a=b; ${COOKIE}="x"`],
    ["cookie", `a=b;${COOKIE}=-x; c=d`],
    ["cookie", `a=b ; \t ${COOKIE}=/x`],
    ["cf-access-jwt-assertion", " a.b.c"],
    ["x-amzn-oidc-data", "YQ==.YQ==.YQ=="],
    ["sec-websocket-protocol", `v1, ${PREFIX}${ENCODED}`],
    ["sec-websocket-protocol", `${PREFIX}${ENCODED},v1`],
  ],
  none: [
    ["authorization", ""],
    ["authorization", "x"],
    ["authorization", "Basic Bearer"],
    ["authorization", "Basic Bearer x"],
    ["authorization", "BearerX x"],
    ["x-user-token", ""],
    ["cookie", ""],
    ["cookie", "session=x"],
    ["cookie", `${COOKIE}=`],
    ["cookie", `${COOKIE}=""`],
    ["cookie", `${COOKIE}=; a=b`],
    ["cookie", `a=b; ${COOKIE}= `],
    ["cookie", `z${COOKIE}=x`],
    ["cookie", `a=${COOKIE}=x`],
    ["cookie", `${COOKIE.toUpperCase()}=x`],
    ["cookie", COOKIE.replace(".", "x") + "=x"],
    ["sec-websocket-protocol", "v1"],
    ["sec-websocket-protocol", `${PREFIX.replace(".", "x")}${ENCODED}, v1`],
  ],
  malformed: [
    ["authorization", "Bearer"],
    ["authorization", "Bearer a b"],
    ["cookie", `${COOKIE}=a b`],
    ["cf-access-jwt-assertion", "a b"],
    ["sec-websocket-protocol", `${PREFIX}${ENCODED}`],
  ],
};

describe("identity: what headers with a token look like", () => {
  const options = {
    trustedProxy: true,
    cookie: COOKIE,
    header: "cf-access-jwt-assertion",
    alb: true,
    websocketProtocol: PREFIX,
  };
  for (const [kind, headers] of Object.entries(HEADERS)) {
    for (const [header, value] of headers) {
      it(`${kind}: ${header}: ${JSON.stringify(value)}`, () => {
        const found = extractToken({ [header]: [value] }, options).kind;
        assert.equal(found === "none" || found === "malformed" ? found : "token", kind);
        if (kind === "malformed") return;
        const { pattern } = credentialPatterns(options).find((one) => one.header === header)!;
        assert.equal(new RegExp(`^(?:${pattern})$`).test(value), kind === "token");
      });
    }
  }

  it("only a trusted proxy's X-User-Token, and the cookie that is configured", () => {
    const headers = credentialPatterns({ trustedProxy: false }).map(({ header }) => header);
    assert.deepEqual(headers, ["authorization"]);
  });
});
