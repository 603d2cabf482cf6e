import assert from "node:assert/strict";
import { folderOf, gatehouse } from "../../cli/support.ts";
import { fromPage } from "../../docs/support/from-page.ts";
import { createBrowser } from "../../support/sign-in.ts";
import {
  apiClient,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { allWorkersAnswer } from "../../support/all-workers.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  startIdentityProvider,
  type IdentityProvider,
  type TestUser,
} from "../../support/providers/identity-provider.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `policy_set: main
version: v1
attributes:
  colleague: { source: users, key: path.user_id, types: { department: string } }
policies:
  - { name: mine, resource: "GET /mine", condition: user.role == "manager" }
  - { name: colleagues, resource: "GET /colleagues/{user_id}", condition: colleague.department == user.department }
  - { name: public, resource: "GET /public", condition: "true" }
`;

/** Less than a gateway waits before it asks again by itself: what is seen by then it was told. */
const PUSHED_MS = 20_000;
const RETURN_URL = "https://app.example/signed-in";

describe("end to end: control plane, identity provider and gateway, in production", () => {
  let plane: ControlPlaneProcess;
  let firstStart: string;
  let provider: IdentityProvider;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let api: ReturnType<typeof apiClient>;
  let customer: string;

  before(async () => {
    plane = await startControlPlaneProcess();
    firstStart = plane.stdout();
    const url = plane.url.production;
    provider = await startIdentityProvider({ redirectUri: `${url}/v1/auth/callback` });
    provider.users.set("iris", {
      claims: {
        email: "iris@corp.example",
        email_verified: true,
        name: "Iris",
        role: "manager",
        department: "sales",
      },
      amr: ["pwd"],
    });
    provider.users.set("omar", {
      claims: { email: "omar@corp.example", role: "viewer", department: "sales" },
    });
    api = apiClient(url, await plane.createKey("production", "full_access"));

    const made = await api("POST", "/customers", {
      name: "Corp",
      allowed_return_urls: [RETURN_URL],
      allowed_roles: ["manager", "viewer"],
      allowed_claims: ["department"],
    });
    assert.equal(made.status, 201);
    customer = made.body.data.id;
    const idp = await api("POST", `/customers/${customer}/idp`, {
      type: "oidc",
      domain: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      scopes: ["openid", "profile", "email", "groups"],
      mfa_acr_values: ["urn:2fa"],
    });
    assert.equal(idp.status, 201, JSON.stringify(idp.body));
    const published = await api("POST", "/policy-sets", {
      name: "main",
      files: [{ name: "main.yaml", text: POLICIES }],
    });
    assert.equal(published.status, 201, JSON.stringify(published.body));

    upstream = await startRecordingUpstream();
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url, audience: "gatehouse" },
      policies: {},
      nodes: 2,
      config: {
        policies: { source: "control_plane", policy_set: "main", refresh_interval: "30s" },
        control_plane: { url, api_key: await plane.createKey("production", "gateway") },
        audit: { destination: "control_plane", inputs: true, inputs_values: ["user.role"] },
        attribute_sources: { users: { type: "control_plane" } },
      },
    });
  });

  after(async () => {
    await gateway.stop();
    await upstream.close();
    await provider.close();
    assert.equal(await plane.stop(), 0, plane.stderr());
  });

  /** The whole walk: authorize, the provider's login, the callback, the code. */
  const signIn = async (login: string) => {
    const started = await api("POST", "/auth/authorize", {
      customer_id: customer,
      return_url: RETURN_URL,
      scopes: ["profile", "email", "groups"],
    });
    assert.equal(started.status, 200, JSON.stringify(started.body));
    const arrived = await createBrowser().walk(started.body.data.authorization_url, {
      login,
      until: RETURN_URL,
    });
    assert.ok(arrived.kind === "sent", JSON.stringify(arrived));
    const code = arrived.url.searchParams.get("code");
    if (code === null) return { error: arrived.url.searchParams };
    assert.equal(arrived.url.searchParams.get("state"), started.body.data.state);
    const tokens = await api("POST", "/auth/token", { code, customer_id: customer });
    assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
    return { data: tokens.body.data };
  };
  const get = async (path: string, token?: string) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const text = await answer.text();
    const reason = /"reason":"(\w+)"/.exec(text)?.[1];
    return `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
  };

  it("signs in, calls through the gateway, and is refused after logout", async () => {
    const { data } = await signIn("iris");
    assert.equal(data.user.role, "manager");
    assert.equal(await get("/mine", data.access_token), "200");
    const seen = upstream.seen.at(-1);
    assert.equal(seen?.headers["x-user-id"], data.user.id);
    const ended = await api("DELETE", "/auth/logout", { session_id: data.session.id });
    assert.equal(ended.status, 200, JSON.stringify(ended.body));
    await allWorkersAnswer(
      "the refusal",
      "401 SESSION_ENDED",
      () => get("/mine", data.access_token),
      PUSHED_MS,
    );
    const refreshed = await api("POST", "/auth/refresh", { refresh_token: data.refresh_token });
    assert.equal(refreshed.status, 401);
  });

  it("looks users up in the directory, and learns of a change", async () => {
    const { data: iris } = await signIn("iris");
    const { data: omar } = await signIn("omar");
    // the first look-up may take longer than a decision waits for one
    await eventually(
      "the directory's answer",
      async () => (await get(`/colleagues/${omar.user.id}`, iris.access_token)) === "200",
    );
    const moved = await api("PUT", `/users/${omar.user.id}`, { attributes: { department: "finance" } });
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    await allWorkersAnswer("the change", "403 CONDITION_FALSE", () =>
      get(`/colleagues/${omar.user.id}`, iris.access_token),
    );
    assert.equal(
      await get("/colleagues/usr_00000000000000000000000000", iris.access_token),
      "403 CONDITION_UNKNOWN",
    );
  });

  it("refuses users of a customer that is suspended, and lets them in again", async () => {
    const { data } = await signIn("iris");
    assert.equal((await api("PUT", `/customers/${customer}`, { status: "suspended" })).status, 200);
    await allWorkersAnswer(
      "the refusal",
      /^40[13] (CUSTOMER_SUSPENDED|SESSION_ENDED)$/,
      () => get("/mine", data.access_token),
      PUSHED_MS,
    );
    const refused = await api("POST", "/auth/authorize", { customer_id: customer, return_url: RETURN_URL });
    assert.deepEqual([refused.status, refused.body.error.code], [403, "CUSTOMER_SUSPENDED"]);
    assert.equal((await api("PUT", `/customers/${customer}`, { status: "active" })).status, 200);
    const again = await signIn("iris");
    await allWorkersAnswer("the permission", "200", () => get("/mine", again.data.access_token));
  });

  it("asks for a second factor where a policy does: at the gateway at once, and at the next sign-in", async () => {
    const { data } = await signIn("iris");
    const policy = await api("POST", "/policies", {
      name: "two factors",
      description: "",
      type: "authentication",
      conditions: { mfa_required: true },
    });
    assert.equal(policy.status, 201, JSON.stringify(policy.body));
    const assigned = await api("POST", `/customers/${customer}/policies`, {
      policy_ids: [policy.body.data.id],
    });
    assert.equal(assigned.status, 200, JSON.stringify(assigned.body));
    await allWorkersAnswer(
      "the refusal",
      "401 MFA_REQUIRED",
      () => get("/mine", data.access_token),
      PUSHED_MS,
    );
    const refused = await fetch(`${gateway.url}/mine`, {
      headers: { authorization: `Bearer ${data.access_token}` },
    });
    assert.match(
      refused.headers.get("www-authenticate") ?? "",
      /error="insufficient_user_authentication", .*, acr_values="urn:2fa"$/,
    );
    const { error } = await signIn("iris");
    assert.equal(error?.get("error"), "access_denied");
    const evidence: readonly TestUser[] = [{ acr: "urn:2fa" }, { amr: ["pwd", "otp"] }];
    for (const proof of evidence) {
      provider.users.set("iris", { ...provider.users.get("iris"), amr: ["pwd"], ...proof });
      const strong = await signIn("iris");
      assert.equal(await get("/mine", strong.data.access_token), "200");
    }
    const removed = await api("DELETE", `/customers/${customer}/policies/${policy.body.data.id}`);
    assert.equal(removed.status, 200);
  });

  it("evaluates by a policy set of the customer's own, too", async () => {
    const { data } = await signIn("iris");
    const own = `policies:\n  - { name: never, resource: "GET /mine", condition: user.role == "nobody" }\n`;
    assert.equal(
      (await api("POST", "/policy-sets", { name: "own", files: [{ name: "own.yaml", text: own }] })).status,
      201,
    );
    const policy = await api("POST", "/policies", {
      name: "own rules",
      description: "",
      type: "authorization",
      conditions: { policy_set: "own" },
    });
    assert.equal(policy.status, 201, JSON.stringify(policy.body));
    await api("POST", `/customers/${customer}/policies`, { policy_ids: [policy.body.data.id] });
    await allWorkersAnswer("the refusal", "403 CONDITION_FALSE", () => get("/mine", data.access_token));
    await api("DELETE", `/customers/${customer}/policies/${policy.body.data.id}`);
    await allWorkersAnswer("the permission", "200", () => get("/mine", data.access_token));
  });

  it("follows what is published, activated and rolled back", async () => {
    const { data } = await signIn("iris");
    const next = POLICIES.replace("version: v1", "version: v2").replace(
      'role == "manager"',
      'role == "director"',
    );
    const published = await api("POST", "/policy-sets", {
      name: "main",
      files: [{ name: "main.yaml", text: next }],
    });
    assert.equal(published.status, 201, JSON.stringify(published.body));
    await allWorkersAnswer("v2", "403 CONDITION_FALSE", () => get("/mine", data.access_token));
    assert.equal((await api("POST", "/policy-sets/main/rollback")).status, 200);
    await allWorkersAnswer("v1", "200", () => get("/mine", data.access_token));
  });

  it("has every decision in the audit trail, the violations as events, and all of it on the dashboard", async () => {
    const { data } = await signIn("iris");
    assert.equal(await get("/mine", data.access_token), "200");
    const found = await eventually("the record", async () => {
      const logs = await api(
        "GET",
        `/audit/logs?kind=decision&user_id=${data.user.id}&decision=ALLOW&limit=1`,
      );
      return logs.body.data[0];
    });
    assert.equal(found.resource, "/mine");
    assert.equal(found.customer_id, customer);
    const reasons = new Set<string>();
    const details = new Set<string>();
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { body } = await api("GET", `/analytics/events?type=policy.violated&limit=100&page=${page}`);
      pages = body.pagination.total_pages;
      for (const event of body.data) {
        reasons.add(event.data.reason);
        details.add(event.data.detail);
      }
    }
    assert.ok(reasons.has("MFA_REQUIRED"), [...reasons].join(", "));
    // the gateway's own set, and the customer's
    for (const set of ["main@v2", "own@v0"])
      assert.ok(details.has(`denied by the policy set ${set}`), [...details].join(", "));
    const dashboard = await api("GET", "/analytics/dashboard");
    assert.equal(dashboard.status, 200);
    assert.match(JSON.stringify(dashboard.body.data), /SESSION_ENDED/);
    const resources = dashboard.body.data.by_resource.top.map((one: { resource: string }) => one.resource);
    for (const resource of ["GET /mine", "GET /colleagues/{user_id}"])
      assert.ok(resources.includes(resource), resources.join(", "));
    for (const name of ["mine", "colleagues"]) assert.ok(!resources.includes(name), resources.join(", "));
  });

  it("answers what rules read, so that its trail can be replayed with another set", async () => {
    const { data } = await signIn("iris");
    assert.equal(await get("/mine", data.access_token), "200");
    const folder = await folderOf({
      "new-policies/main.yaml": POLICIES.replace('role == "manager"', 'role == "director"'),
      "read.key": await plane.createKey("production", "read_only"),
    });
    const query = `kind=decision&inputs=true&format=ndjson&resource=/mine&user_id=${data.user.id}&decision=ALLOW`;
    const asked = [
      "--records",
      `${plane.url.production}/v1/audit/logs?${query}`,
      "--api-key-file",
      "read.key",
    ];
    const report = await eventually("the record", async () => {
      const args = ["replay", ...asked, "--candidate", "new-policies", "--json"];
      const { stdout, stderr } = await gatehouse(args, { cwd: folder.path });
      assert.equal(stderr, "");
      const read = JSON.parse(stdout) as { decisions: number; loses: number; by: { user: object[] } };
      return read.decisions > 0 ? read : undefined;
    });
    assert.equal(report.loses, report.decisions);
    assert.deepEqual(report.by.user, [{ name: data.user.id, loses: report.loses }]);
    const places = { "https://gatehouse.example": plane.url.production };
    const printed = await fromPage("docs/replay.md", "--api-key-file read.key", { cwd: folder.path, places });
    assert.match(printed, new RegExp(`^ +[1-9]\\d* .* ${data.user.id}$`, "m"));
    await folder.remove();
  });

  it("goes on deciding while the control plane is away, and hands the records over when it is back", async () => {
    const { data } = await signIn("iris");
    assert.equal(await get("/mine", data.access_token), "200");
    const ports = [plane.url.production, plane.url.sandbox] as const;
    await plane.kill();
    for (let n = 0; n < 20; n += 1) assert.equal(await get("/public", data.access_token), "200");
    plane = await startControlPlaneProcess({ directory: plane.directory, ports });
    await eventually(
      "all 20 records",
      async () => {
        const { body } = await api(
          "GET",
          `/audit/logs?kind=decision&user_id=${data.user.id}&resource=/public`,
        );
        return body.pagination?.total_items === 20;
      },
      30_000,
    );
    await api("DELETE", "/auth/logout", { session_id: data.session.id });
    await allWorkersAnswer(
      "the refusal",
      "401 SESSION_ENDED",
      () => get("/mine", data.access_token),
      PUSHED_MS,
    );
  });

  it("prints the first owner's link once for each environment; a later start says that it is good", async () => {
    const linksIn = (text: string) =>
      [...text.matchAll(/^ {2}first owner of (\w+) .*: (http\S+)$/gm)].map(([, name]) => name);
    assert.deepEqual(linksIn(firstStart), ["production", "sandbox"]);
    assert.deepEqual(linksIn(plane.stdout()), []);
    assert.match(
      plane.stdout(),
      /first owner of production: the link printed by an earlier start is valid until /,
    );
    const link = /first owner of production .*: (http\S+)/.exec(firstStart)?.[1] ?? "";
    const page = await fetch(link);
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  });
});
