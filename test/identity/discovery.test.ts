import assert from "node:assert/strict";
import { createSigner, createSubject, json, startServer, type Signer, type TestServer } from "./support.ts";

const WELL_KNOWN = "/.well-known/openid-configuration";

describe("identity: discovery", () => {
  let signer: Signer;
  let server: TestServer;
  let other: TestServer;

  before(async () => {
    signer = await createSigner("ES256", "key");
    server = await startServer(json({}));
    other = await startServer(json({ keys: [signer.publicJwk] }));
  });
  after(() => Promise.all([server.close(), other.close()]));

  /** Starts with this metadata, and keys that are good where they are asked for. */
  const start = async (metadata: TestServer["respond"] | object, path = "") => {
    const issuer = `${server.origin}${path}`;
    server.requests.length = 0;
    other.requests.length = 0;
    server.respond = (request, response) => {
      if (request.url === "/keys") json({ keys: [signer.publicJwk] })(request, response);
      else if (typeof metadata === "function") metadata(request, response);
      else json({ issuer, jwks_uri: `${server.origin}/keys`, ...metadata })(request, response);
    };
    const subject = createSubject({ issuer, requestTimeoutMs: 1000 });
    await subject.verifier.start();
    subject.verifier.close();
    return { ...subject, issuer };
  };

  it("finds the keys from the issuer alone", async () => {
    const { verifier, issuer } = await start({});
    assert.deepEqual(server.requests, [WELL_KNOWN, "/keys"]);
    assert.equal((await verifier.verify(await signer.sign({ iss: issuer }))).ok, true);
  });

  it("appends the well-known path to the issuer's, with or without a final slash", async () => {
    for (const path of ["/realms/main", "/realms/main/"]) {
      const { verifier, issuer } = await start({}, path);
      assert.deepEqual(server.requests, [`/realms/main${WELL_KNOWN}`, "/keys"]);
      assert.equal((await verifier.verify(await signer.sign({ iss: issuer }))).ok, true);
    }
  });

  it("lets a loopback issuer keep its keys on another loopback port", async () => {
    const { verifier } = await start({ jwks_uri: `${other.origin}/keys` });
    assert.equal(verifier.ready(), true);
  });

  const refused: Record<string, () => TestServer["respond"] | object> = {
    "another issuer": () => ({ issuer: "https://issuer.example" }),
    "the issuer with a final slash": () => ({ issuer: `${server.origin}/` }),
    "the issuer in a list": () => ({ issuer: [server.origin] }),
    "no issuer": () => ({ issuer: undefined }),
    "no jwks_uri": () => ({ jwks_uri: undefined }),
    "a jwks_uri that is no address": () => ({ jwks_uri: "keys" }),
    "a jwks_uri that is no text": () => ({ jwks_uri: 7 }),
    "a jwks_uri over http to elsewhere": () => ({ jwks_uri: "http://keys.example/keys" }),
    "a jwks_uri over http to what looks like loopback": () => ({ jwks_uri: "http://127.0.0.1.example/keys" }),
    "a jwks_uri with credentials": () => ({ jwks_uri: `${other.origin.replace("//", "//a:b@")}/keys` }),
    "a jwks_uri that is a file": () => ({ jwks_uri: "file:///etc/passwd" }),
    "a list": () => json([]),
    null: () => json(null),
    "a page": () => json("<html></html>"),
    "an error": () => (_request, response) => response.writeHead(404).end(),
    "a redirect": () => (request, response) => {
      if (request.url === "/moved") {
        json({ issuer: server.origin, jwks_uri: `${server.origin}/keys` })(request, response);
      } else response.writeHead(301, { location: "/moved" }).end();
    },
  };
  for (const [what, metadata] of Object.entries(refused)) {
    it(`is not satisfied with ${what}`, async () => {
      const { verifier, log } = await start(metadata());
      assert.equal(verifier.ready(), false);
      assert.deepEqual(server.requests, [WELL_KNOWN]);
      assert.deepEqual(other.requests, []);
      assert.match(verifier.status().lastError ?? "", /metadata|jwks_uri|status \d{3}|JSON/);
      assert.equal(log.lines.length, 1);
    });
  }

  it("asks for https keys of an https issuer", async () => {
    const asked: string[] = [];
    const answer: typeof fetch = (input) => {
      asked.push(input instanceof URL ? input.href : "");
      return Promise.resolve(
        Response.json({ issuer: "https://issuer.example", jwks_uri: `${other.origin}/keys` }),
      );
    };
    const { createTokenVerifier } = await import("../../src/identity/index.ts");
    const { metrics, log } = createSubject({ jwks: "unused" });
    const verifier = createTokenVerifier(
      { issuer: "https://issuer.example", audience: "api" },
      { metrics, log, fetch: answer },
    );
    await verifier.start();
    verifier.close();
    assert.deepEqual(asked, [`https://issuer.example${WELL_KNOWN}`]);
    assert.equal(verifier.ready(), false);
  });
});
