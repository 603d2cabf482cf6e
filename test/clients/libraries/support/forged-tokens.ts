import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { TokenIssuer } from "./token-issuer.ts";

/** Tokens that somebody made who has no key of the issuer, or a token of it for something else; and why each is refused. */
export async function forgedTokens(
  issuer: TokenIssuer,
): Promise<readonly (readonly [token: string, code: string])[]> {
  const now = Math.floor(Date.now() / 1000);
  const [head = "", payload = "", signature = ""] = (await issuer.token()).split(".");
  const header = JSON.parse(Buffer.from(head, "base64url").toString()) as Record<string, unknown>;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  const admin = { ...claims, sub: "usr_admin" };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const publicKey = issuer.publicKey();
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const jwk = publicKey.export({ format: "jwk" });

  /** With the published key as the secret of a MAC. */
  const withMac = (alg: string, secret: string | Buffer) => {
    const signed = `${encode({ ...header, alg })}.${encode(admin)}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  };
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  /** With a key of one's own, to which the header points. */
  const withOwnKey = (more: Record<string, unknown>) => {
    const signed = `${encode({ ...header, ...more })}.${encode(admin)}`;
    const key = { key: own.privateKey, dsaEncoding: "ieee-p1363" } as const;
    return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
  };
  /** With the issuer's key, but not as it makes tokens. */
  const signed = (more: Record<string, unknown>, ofHeader: Record<string, unknown> = {}) =>
    issuer.sign(JSON.stringify({ ...header, ...ofHeader }), JSON.stringify({ ...claims, ...more }));
  const without = (name: string) =>
    issuer.sign(
      JSON.stringify(header),
      JSON.stringify(Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))),
    );

  return [
    ...["HS256", "hs256", "none", "None", "", "ES384", "es256", "ES256K", "RS256"].map(
      (alg) => [withMac(alg, pem), "TOKEN_ALGORITHM"] as const,
    ),
    [withMac("HS256", JSON.stringify(jwk)), "TOKEN_ALGORITHM"],
    [withMac("HS256", publicKey.export({ type: "spki", format: "der" })), "TOKEN_ALGORITHM"],
    // the right algorithm in name
    [withMac("ES256", pem), "TOKEN_SIGNATURE"],
    [withOwnKey({ alg: ["ES256"] }), "TOKEN_ALGORITHM"],
    [withOwnKey({}), "TOKEN_SIGNATURE"],
    [withOwnKey({ jwk: own.publicKey.export({ format: "jwk" }) }), "TOKEN_SIGNATURE"],
    [
      withOwnKey({ jku: "https://attacker.example/keys", x5u: "https://attacker.example" }),
      "TOKEN_SIGNATURE",
    ],
    ...[
      "",
      "../../../../dev/null",
      "x' UNION SELECT 'key",
      "key-1\0",
      "__proto__",
      "constructor",
      "KEY-1",
    ].map((kid) => [withOwnKey({ kid }), "TOKEN_KEY_UNKNOWN"] as const),
    [withOwnKey({ kid: ["key-1"] }), "TOKEN_KEY_UNKNOWN"],
    [withOwnKey({ kid: { kid: "key-1" } }), "TOKEN_KEY_UNKNOWN"],
    [withOwnKey({ kid: null }), "TOKEN_KEY_UNKNOWN"],
    // RFC 7515, section 4.1.11, and RFC 7797
    [signed({}, { crit: ["b64"], b64: false }), "TOKEN_ALGORITHM"],
    [signed({}, { crit: [] }), "TOKEN_ALGORITHM"],
    [signed({}, { typ: "JWT" }), "TOKEN_TYPE"],
    [signed({}, { typ: "application/at+jwt" }), "TOKEN_TYPE"],
    [signed({}, { typ: undefined }), "TOKEN_TYPE"],
    // nested, encrypted, and what is no token
    [issuer.sign(JSON.stringify(header), `${head}.${payload}.${signature}`), "TOKEN_MALFORMED"],
    [
      issuer.sign(JSON.stringify(header), JSON.stringify(`${head}.${payload}.${signature}`)),
      "TOKEN_MALFORMED",
    ],
    [issuer.sign(JSON.stringify(header), JSON.stringify([claims])), "TOKEN_MALFORMED"],
    [issuer.sign(JSON.stringify(header), "null"), "TOKEN_MALFORMED"],
    [`${head}.${payload}.${signature}.${payload}.${signature}`, "TOKEN_MALFORMED"],
    [`${head}..${payload}.${signature}`, "TOKEN_MALFORMED"],
    [`${head}.${payload}`, "TOKEN_MALFORMED"],
    ["..", "TOKEN_MALFORMED"],
    [`${head}.${payload}.${signature}=`, "TOKEN_MALFORMED"],
    [`${head}=.${payload}.${signature}`, "TOKEN_MALFORMED"],
    [`${head}.${"A".repeat(5_000)}.${signature}`, "TOKEN_SIGNATURE"],
    [`${head}.${payload}.${signature.slice(0, -2)}`, "TOKEN_SIGNATURE"],
    [`${head}.${payload}.${signature}AAAA`, "TOKEN_SIGNATURE"],
    // whom it is from, and whom for
    [signed({ iss: `${issuer.url}/` }), "TOKEN_ISSUER"],
    [signed({ iss: [issuer.url] }), "TOKEN_ISSUER"],
    [signed({ iss: issuer.url.toUpperCase() }), "TOKEN_ISSUER"],
    [without("iss"), "TOKEN_ISSUER"],
    [signed({ aud: "gatehouse.evil.example" }), "TOKEN_AUDIENCE"],
    [signed({ aud: [] }), "TOKEN_AUDIENCE"],
    [signed({ aud: [["gatehouse"]] }), "TOKEN_AUDIENCE"],
    [signed({ aud: { gatehouse: true } }), "TOKEN_AUDIENCE"],
    [without("aud"), "TOKEN_AUDIENCE"],
    [signed({ sub: "" }), "TOKEN_MALFORMED"],
    [signed({ sub: 7 }), "TOKEN_MALFORMED"],
    [without("sub"), "TOKEN_MALFORMED"],
    // until when
    [without("exp"), "TOKEN_MALFORMED"],
    [without("iat"), "TOKEN_MALFORMED"],
    [signed({ exp: String(now + 600) }), "TOKEN_MALFORMED"],
    [signed({ exp: true }), "TOKEN_MALFORMED"],
    [
      issuer.sign(
        JSON.stringify(header),
        JSON.stringify({ ...claims, exp: 0 }).replace('"exp":0', '"exp":1e999'),
      ),
      "TOKEN_MALFORMED",
    ],
    [signed({ exp: -1 }), "TOKEN_EXPIRED"],
    [signed({ nbf: "never" }), "TOKEN_NOT_YET_VALID"],
    [signed({ nbf: null }), "TOKEN_NOT_YET_VALID"],
  ];
}
