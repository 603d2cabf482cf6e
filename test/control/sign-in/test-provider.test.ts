import assert from "node:assert/strict";
import { UnsecuredJWT } from "jose";
import { startSignInBench, type SignInBench } from "../support/sign-in.ts";

const PASSED = ["discovery", "issuer", "endpoints", "code_flow", "pkce", "signing_keys", "client"];

describe("the test of a customer's identity provider", () => {
  let bench: SignInBench;
  let customer: string;
  before(async () => {
    bench = await startSignInBench();
    customer = await bench.customer();
  });
  after(async () => {
    await bench.close();
  });

  const test = async (id: string, body: object = {}) =>
    bench.request("POST", `/customers/${id}/idp/test`, { body });
  const stepsOf = async (id: string): Promise<readonly (readonly [string, string, string | null])[]> => {
    const { body } = await test(id);
    const { steps } = body.data as { steps: { step: string; status: string; reason: string | null }[] };
    return steps.map(({ step, status, reason }) => [step, status, reason]);
  };
  const configure = (id: string, more: object) =>
    bench.request("POST", `/customers/${id}/idp`, {
      body: {
        ...{ type: "oidc", domain: bench.provider.issuer, client_id: bench.provider.clientId },
        ...{ client_secret: bench.provider.clientSecret, verify: false, ...more },
      },
    });

  it("passes every step of a provider that knows the client", async () => {
    assert.deepEqual(
      await stepsOf(customer),
      PASSED.map((step) => [step, "passed", null]),
    );
  });

  it("says that the client is not known, or its secret is wrong", async () => {
    for (const wrong of [{ client_secret: "wrong" }, { client_id: "nobody" }]) {
      await configure(customer, wrong);
      assert.deepEqual((await stepsOf(customer)).at(-1), ["client", "failed", "invalid_client"]);
    }
    await configure(customer, {});
  });

  it("stops at the first step that fails", async () => {
    await configure(customer, { domain: "http://127.0.0.1:9" });
    const [first, ...rest] = await stepsOf(customer);
    assert.deepEqual(first, ["discovery", "failed", "unreachable"]);
    assert.ok(rest.every(([, status, reason]) => status === "skipped" && reason === null));
    await configure(customer, {});
  });

  it("tells who the claims of a token would sign in, and what is not permitted", async () => {
    await configure(customer, { claims: { role: "app.role", team: "team", big: "big" } });
    await bench.request("PUT", `/customers/${customer}`, {
      body: { allowed_roles: ["viewer"], allowed_claims: [] },
    });
    const token = new UnsecuredJWT({
      ...{ sub: "u-1", email: "ada@acme.example", name: "Ada", amr: ["pwd"], team: "red" },
      ...{ app: { role: "admin" }, big: "x".repeat(2_000) },
    }).encode();
    const { body } = await test(customer, { token });
    const { identity } = body.data;
    assert.deepEqual(
      [identity.subject, identity.email, identity.name, identity.amr, identity.attributes, identity.unusable],
      ["u-1", "ada@acme.example", "Ada", ["pwd"], {}, ["big"]],
    );
    assert.deepEqual(identity.not_permitted.map(({ claim }: { claim: string }) => claim).sort(), [
      "role",
      "team",
    ]);
    await bench.request("PUT", `/customers/${customer}`, {
      body: { allowed_roles: ["admin"], allowed_claims: ["team"] },
    });
    const again = await test(customer, { token });
    assert.deepEqual(again.body.data.identity.attributes, { role: "admin", team: "red" });
    for (const wrong of ["x", "a.b.c", new UnsecuredJWT({ email: "a@b.c" }).encode()]) {
      const refused = await test(customer, { token: wrong });
      assert.deepEqual([refused.status, refused.body.error.details.fields[0].path], [422, "token"]);
      assert.ok(!refused.text.includes(wrong) || wrong === "x");
    }
  });

  it("stores nothing, and needs a provider", async () => {
    const before = await bench.context.db("users").count();
    await test(customer, { token: new UnsecuredJWT({ sub: "u-2" }).encode() });
    assert.deepEqual(await bench.context.db("users").count(), before);
    const made = await bench.request("POST", "/customers", { body: { name: "None" } });
    const none = await test(made.body.data.id as string);
    assert.deepEqual([none.status, none.body.error.code], [404, "IDP_NOT_CONFIGURED"]);
  });
});
