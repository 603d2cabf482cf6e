import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { arrivedWith, createVisitor, startSandbox, type Sandbox, type Seen } from "../support/sandbox.ts";

const PAPE = "http://schemas.openid.net/pape/policies/2007/06/multi-factor";

describe("how somebody proves who they are in the sandbox", () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox.close());

  it("takes people of every customer, and a policy's idea of how they prove who they are", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(null, { email: "sam@platform.example", name: "Sam", amr: ["pwd", "mfa"] });
    await sandbox.person(customer);
    const policy = await sandbox.post("/policies", {
      ...{ name: "MFA", type: "authentication" },
      conditions: { mfa_required: true, max_session_duration: 3600 },
    });
    await sandbox.post(`/customers/${customer}/policies`, { policy_ids: [policy.body.data.id] });
    const arrive = async (login_hint: string) => {
      const { authorization_url: url } = await sandbox.authorize(customer, { login_hint });
      return arrivedWith(await createVisitor().go(url, sandbox.url));
    };
    assert.equal((await arrive("ada@acme.example")).get("reason"), "MFA_REQUIRED");
    assert.equal((await sandbox.exchange(await arrive("sam@platform.example"))).user.name, "Sam");
  });

  it("lets somebody step up: by a second factor, in a class that is asked for, and again", async () => {
    const customer = await sandbox.customer();
    await sandbox.person(customer);
    await sandbox.person(customer, { email: "bo@acme.example", name: "Bo", amr: ["pwd", "otp"] });
    const visitor = createVisitor();
    const start = async (more: object = {}) =>
      visitor.go((await sandbox.authorize(customer, more)).authorization_url, sandbox.url);
    const pick = async (shown: Seen, form: Readonly<Record<string, string>>) =>
      arrivedWith(await visitor.follow(await visitor.post(shown.url, form), sandbox.url));
    const proved = async (parameters: URLSearchParams) => {
      const { amr, acr, auth_time } = decodeJwt((await sandbox.exchange(parameters)).access_token);
      return { amr, acr, authTime: Number(auth_time) };
    };
    const ada = { login: "ada@acme.example" };
    const plain = await start();
    assert.doesNotMatch(plain.html, /second_factor/);
    const first = await proved(await pick(plain, ada));
    assert.deepEqual([first.amr, first.acr], [["pwd"], undefined]);

    // what is asked for is what the policy asks, and the session at the provider does not do
    const policy = await sandbox.post("/policies", {
      ...{ name: "MFA", type: "authentication" },
      conditions: { mfa_required: true, max_session_duration: 3600 },
    });
    await sandbox.post(`/customers/${customer}/policies`, { policy_ids: [policy.body.data.id] });
    const asked = await start();
    assert.match(asked.html, /name="second_factor" value="1" checked/);
    const refused = await pick(asked, ada);
    assert.equal(refused.get("reason"), "MFA_REQUIRED");
    const second = await proved(await pick(await start(), { ...ada, second_factor: "1" }));
    assert.deepEqual([second.amr, second.acr], [["pwd", "mfa"], PAPE]);
    assert.ok(second.authTime >= first.authTime);
    // silently: the session at the provider does now
    arrivedWith(await start());
    const anew = await start({ max_age: 0 });
    assert.match(anew.html, /Sandbox sign-in/);
    const other = await proved(await pick(anew, { login: "bo@acme.example" }));
    assert.deepEqual([other.amr, other.acr], [["pwd", "otp"], PAPE]);

    // the classes of the provider that is configured
    const okta = { type: "okta", domain: "acme.okta.example", client_id: "app", client_secret: "a secret" };
    await sandbox.post(`/customers/${customer}/idp`, okta);
    const classed = await start({ acr_values: "phr" });
    const third = await proved(await pick(classed, { ...ada, second_factor: "1" }));
    assert.deepEqual([third.amr, third.acr], [["pwd", "mfa"], "phr"]);
    const silent = await start({ acr_values: "phrh", prompt: "none" });
    assert.equal(arrivedWith(silent).get("error"), "login_required");
  });
});
