import assert from "node:assert/strict";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import {
  deriveIssuer,
  isReachable,
  requiredClaims,
} from "../../../../src/control/resources/customers/idp-issuer.ts";

/** Whether http is allowed. */
const USUALLY = false;
const WHERE_ALLOWED = true;
const TENANT = "aaaabbbb-0000-cccc-1111-dddd2222eeee";

type Configured = Parameters<typeof deriveIssuer>[0];

describe("the issuer of an identity provider", () => {
  const derived: readonly (readonly [Configured, issuer: string, domain?: string])[] = [
    [{ type: "oidc", domain: "idp.example.com" }, "https://idp.example.com"],
    [
      { type: "oidc", domain: "IDP.Example.com:8443" },
      "https://idp.example.com:8443",
      "idp.example.com:8443",
    ],
    [{ type: "oidc", domain: "https://idp.example.com" }, "https://idp.example.com", "idp.example.com"],
    [
      { type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com/t/1" },
      "https://idp.example.com/t/1",
    ],
    [
      { type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com/" },
      "https://idp.example.com/",
    ],
    [{ type: "okta", domain: "acme.okta.com" }, "https://acme.okta.com"],
    [
      { type: "okta", domain: "acme.okta.com", issuer: "https://acme.okta.com/oauth2/default" },
      "https://acme.okta.com/oauth2/default",
    ],
    [{ type: "auth0", domain: "acme.eu.auth0.com" }, "https://acme.eu.auth0.com/"],
    [{ type: "google", domain: "accounts.google.com" }, "https://accounts.google.com"],
    [{ type: "google", domain: "acme.com" }, "https://accounts.google.com"],
    [
      { type: "entra", domain: "login.microsoftonline.com", tenant: TENANT },
      `https://login.microsoftonline.com/${TENANT}/v2.0`,
    ],
    [
      { type: "entra", domain: "acme.com", tenant: TENANT },
      `https://login.microsoftonline.com/${TENANT}/v2.0`,
    ],
    [{ type: "entra", domain: "acme.com" }, "https://login.microsoftonline.com/acme.com/v2.0"],
    [
      { type: "entra", domain: "login.microsoftonline.us", tenant: TENANT },
      `https://login.microsoftonline.us/${TENANT}/v2.0`,
    ],
    [{ type: "keycloak", domain: "sso.acme.com", realm: "staff" }, "https://sso.acme.com/realms/staff"],
    [
      { type: "keycloak", domain: "sso.acme.com", issuer: "https://sso.acme.com/auth/realms/staff" },
      "https://sso.acme.com/auth/realms/staff",
    ],
  ];
  for (const [configured, issuer, domain = configured.domain] of derived) {
    it(`is ${issuer} of ${JSON.stringify(configured)}`, () => {
      const found = deriveIssuer(configured, USUALLY);
      assert.deepEqual([found.issuer, found.domain], [issuer, domain]);
    });
  }

  it("is at loopback over http where that is allowed", () => {
    const domain = "http://127.0.0.1:4000";
    const of = (configured: Omit<Configured, "domain">) =>
      deriveIssuer({ ...configured, domain }, WHERE_ALLOWED);
    assert.equal(of({ type: "oidc" }).issuer, domain);
    assert.equal(of({ type: "oidc" }).domain, domain);
    assert.equal(of({ type: "auth0" }).issuer, `${domain}/`);
    assert.equal(of({ type: "google" }).issuer, domain);
    assert.equal(of({ type: "entra", tenant: TENANT }).issuer, `${domain}/${TENANT}/v2.0`);
    assert.equal(of({ type: "keycloak", realm: "r" }).issuer, `${domain}/realms/r`);
  });

  it("may be elsewhere over http only where insecure issuers are allowed", () => {
    const configured = { type: "oidc", domain: "http://idp.internal" } as const;
    assert.throws(() => deriveIssuer(configured, USUALLY), ApiError);
    assert.equal(deriveIssuer(configured, WHERE_ALLOWED).issuer, "http://idp.internal");
  });

  const refused: readonly (readonly [Configured, path: string])[] = [
    [{ type: "oidc", domain: "http://127.0.0.1:4000" }, "domain"],
    [{ type: "oidc", domain: "http://idp.example.com" }, "domain"],
    [{ type: "oidc", domain: "ftp://idp.example.com" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com/path" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com/" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com?x" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com#x" }, "domain"],
    [{ type: "oidc", domain: "user@idp.example.com" }, "domain"],
    [{ type: "oidc", domain: "good.example\\@evil.example" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com\r\nhost: x" }, "domain"],
    [{ type: "oidc", domain: "idp example.com" }, "domain"],
    [{ type: "oidc", domain: "bücher.example" }, "domain"],
    [{ type: "oidc", domain: "127.1" }, "domain"],
    [{ type: "oidc", domain: "0x7f000001" }, "domain"],
    [{ type: "oidc", domain: "2130706433" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com:443" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com:99999" }, "domain"],
    [{ type: "oidc", domain: "https://" }, "domain"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://other.example.com" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com.evil.example" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "http://idp.example.com" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://u:p@idp.example.com" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com/?a=b" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com/#" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "https://idp.example.com/a/../b" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", issuer: "idp.example.com" }, "issuer"],
    [{ type: "oidc", domain: "idp.example.com", tenant: TENANT }, "tenant"],
    [{ type: "okta", domain: "acme.okta.com", realm: "r" }, "realm"],
    [{ type: "keycloak", domain: "sso.acme.com" }, "realm"],
    [{ type: "entra", domain: "login.microsoftonline.com" }, "tenant"],
    [{ type: "entra", domain: "acme.com", issuer: "https://acme.com" }, "issuer"],
    [{ type: "google", domain: "acme.com", issuer: "https://acme.com" }, "issuer"],
  ];
  for (const [configured, path] of refused) {
    it(`is not told by ${JSON.stringify(configured)}`, () => {
      assert.throws(
        () => deriveIssuer(configured, USUALLY),
        (error) =>
          error instanceof ApiError &&
          error.code === "VALIDATION_FAILED" &&
          (error.details["fields"] as { path: string }[])[0]?.path === path,
      );
    });
  }

  it("asks for Google's `hd` where a Workspace domain is named", () => {
    const google = { type: "google", issuer: "https://accounts.google.com" } as const;
    assert.deepEqual(requiredClaims({ ...google, domain: "acme.com" }), { hd: "acme.com" });
    assert.deepEqual(requiredClaims({ ...google, domain: "accounts.google.com" }), {});
    assert.deepEqual(requiredClaims({ type: "oidc", domain: "acme.com", issuer: "https://acme.com" }), {});
  });

  it("is reached by https, but where insecure issuers are allowed", () => {
    assert.ok(isReachable(new URL("https://idp.example.com/token"), USUALLY));
    assert.ok(!isReachable(new URL("http://idp.example.com/token"), USUALLY));
    assert.ok(!isReachable(new URL("http://127.0.0.1/token"), USUALLY));
    assert.ok(isReachable(new URL("http://127.0.0.1/token"), WHERE_ALLOWED));
    assert.ok(!isReachable(new URL("https://somebody@idp.example.com/token"), WHERE_ALLOWED));
    assert.ok(!isReachable(new URL("ftp://idp.example.com/token"), WHERE_ALLOWED));
  });
});
