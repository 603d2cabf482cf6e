import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JSONWebKeySet,
} from "jose";
import { createDemoIdentity, type DemoIdentity } from "../../src/demo/identity.ts";
import { loadOrCreateKey } from "../../src/demo/key-file.ts";
import { DEMO_ROLES, PEOPLE, personOfRole, type DemoRole } from "../../src/demo/people.ts";

const run = promisify(execFile);

describe("demo identity", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-demo-"));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  async function verify(identity: DemoIdentity, token: string) {
    const keys = JSON.parse(await readFile(identity.jwksFile, "utf8")) as JSONWebKeySet;
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: ["ES256"],
      issuer: identity.issuer,
      audience: identity.audience,
    });
    return payload;
  }

  for (const role of DEMO_ROLES) {
    it(`makes a token for ${role} that the public key file verifies`, async () => {
      const identity = await createDemoIdentity(directory);
      const payload = await verify(identity, await identity.token({ role }));
      const { id, ...person } = personOfRole(role);
      const { sub, iat, exp, iss, aud, ...claims } = payload;
      assert.equal(sub, id);
      assert.equal(iss, identity.issuer);
      assert.equal(aud, identity.audience);
      assert.equal(exp! - iat!, 3600);
      assert.deepEqual(claims, person);
    });
  }

  it("names the key and the type in the header", async () => {
    const identity = await createDemoIdentity(directory);
    const { keys } = JSON.parse(await readFile(identity.jwksFile, "utf8")) as { keys: { kid: string }[] };
    assert.deepEqual(decodeProtectedHeader(await identity.token({ role: "viewer" })), {
      alg: "ES256",
      kid: keys[0]!.kid,
      typ: "JWT",
    });
  });

  it("lets every claim be chosen", async () => {
    const identity = await createDemoIdentity(directory);
    const token = await identity.token({
      role: "support",
      user: "u-8",
      customer: "c-6",
      department: "finance",
      permissions: ["reports:read"],
      expiresIn: 60,
    });
    const payload = await verify(identity, token);
    assert.equal(payload.sub, "u-8");
    assert.equal(payload["name"], "Jonas Weber");
    assert.equal(payload["role"], "support");
    assert.equal(payload["customer_id"], "c-6");
    assert.equal(payload["department"], "finance");
    assert.deepEqual(payload["permissions"], ["reports:read"]);
    assert.equal(payload.exp! - payload.iat!, 60);
  });

  it("gives a known user the permissions of the role that was asked for", async () => {
    const identity = await createDemoIdentity(directory);
    const payload = await verify(identity, await identity.token({ role: "viewer", user: "u-1" }));
    assert.equal(payload["role"], "viewer");
    assert.deepEqual(payload["permissions"], personOfRole("viewer").permissions);
  });

  it("claims nothing about a stranger but what it was told", async () => {
    const identity = await createDemoIdentity(directory);
    const payload = await verify(identity, await identity.token({ role: "manager", user: "u-77" }));
    assert.equal(payload.sub, "u-77");
    assert.equal(payload["role"], "manager");
    for (const absent of ["name", "email", "customer_id", "department", "assigned_customers"]) {
      assert.equal(absent in payload, false, absent);
    }
  });

  it("refuses a role that nobody has", async () => {
    const identity = await createDemoIdentity(directory);
    await assert.rejects(
      identity.token({ role: "root" as DemoRole }),
      /nobody in the demo has the role root/,
    );
  });

  it("makes tokens that have expired", async () => {
    const identity = await createDemoIdentity(directory);
    const token = await identity.token({ role: "admin", expiresIn: -600 });
    await assert.rejects(verify(identity, token), errors.JWTExpired);
    const { iat, exp } = decodeJwt(token);
    assert.ok(exp! < Date.now() / 1000 - 500 && iat! < exp!);
  });

  it("keeps the private key to its owner, and out of the public file", async () => {
    const identity = await createDemoIdentity(directory);
    assert.equal((await stat(join(directory, "demo-key.json"))).mode & 0o777, 0o600);
    const { keys } = JSON.parse(await readFile(identity.jwksFile, "utf8")) as { keys: object[] };
    assert.deepEqual(Object.keys(keys[0]!).sort(), ["alg", "crv", "kid", "kty", "use", "x", "y"]);
  });

  it("uses the key again, and mends a public file that was lost", async () => {
    const first = await createDemoIdentity(directory);
    const token = await first.token({ role: "admin" });
    await rm(first.jwksFile);
    const second = await createDemoIdentity(directory);
    assert.equal((await verify(second, token)).sub, "u-1");
  });

  it("makes the directory, open to its owner only", async () => {
    const nested = join(directory, "a", "b");
    await createDemoIdentity(nested);
    assert.equal((await stat(nested)).mode & 0o777, 0o700);
  });

  it("gives several processes that start at once one and the same key, and leaves no draft behind", async () => {
    const script = `
      import { createDemoIdentity } from ${JSON.stringify(new URL("../../src/demo/identity.ts", import.meta.url).href)};
      const identity = await createDemoIdentity(${JSON.stringify(directory)});
      process.stdout.write(await identity.token({ role: "viewer" }));
    `;
    const processes = [1, 2, 3].map(() => run(process.execPath, ["--input-type=module", "-e", script]));
    const tokens = (await Promise.all(processes)).map(({ stdout }) => stdout);
    const identity = await createDemoIdentity(directory);
    for (const token of tokens) assert.equal((await verify(identity, token)).sub, "u-4");
    assert.deepEqual((await readdir(directory)).sort(), ["demo-jwks.json", "demo-key.json"]);
  });

  it("gives racing callers in one process the key of whoever came first", async () => {
    const path = join(directory, "key.json");
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateKey(path)));
    assert.equal(new Set(keys.map(({ kid }) => kid)).size, 1);
    assert.deepEqual(await readdir(directory), ["key.json"]);
  });

  for (const [what, text] of [
    ["nothing", ""],
    ["half a file", '{"kty":"EC","crv":"P-2'],
    ["a public key", '{"kty":"EC","crv":"P-256","x":"a","y":"b","kid":"k"}'],
    ["another kind of key", '{"kty":"oct","k":"c2VjcmV0","kid":"k"}'],
  ] as const) {
    it(`refuses a key file that holds ${what}, and says what to do`, async () => {
      const path = join(directory, "demo-key.json");
      await writeFile(path, text);
      await assert.rejects(createDemoIdentity(directory), /does not hold a private ES256 key; delete it/);
      assert.equal(await readFile(path, "utf8"), text);
    });
  }

  it("reports a key file that cannot be read for another reason than not being there", async () => {
    await assert.rejects(loadOrCreateKey(directory), { code: "EISDIR" });
  });

  it("reports a directory that is a file", async () => {
    await writeFile(join(directory, "file"), "");
    await assert.rejects(createDemoIdentity(join(directory, "file")), { code: "EEXIST" });
  });
});

describe("demo people", () => {
  it("have ids and emails of their own", () => {
    assert.equal(new Set(PEOPLE.map(({ id }) => id)).size, PEOPLE.length);
    assert.equal(new Set(PEOPLE.map(({ email }) => email)).size, PEOPLE.length);
  });
});
