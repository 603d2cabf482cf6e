import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPolicySetCompiler } from "../../../../src/control/resources/policy-sets/compiler.ts";
import { startFolderPublisher } from "../../../../src/control/resources/policy-sets/folder-publisher.ts";
import { publishFolder } from "../../../../src/control/resources/policy-sets/publish-folder.ts";
import { rolloutRoutes } from "../../../../src/control/resources/policy-sets/rollout-routes.ts";
import { policySetRoutes } from "../../../../src/control/resources/policy-sets/routes.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import { setOf } from "../../support/policy-files.ts";
import { eventually } from "../../../support/eventually.ts";

function setText(role: string, version = "v1"): string {
  return `version: ${version}\npolicies:\n  - resource: "GET /a"\n    condition: user.role == "${role}"\n`;
}

describe("policy folders", () => {
  const compile = createPolicySetCompiler();
  let control: RunningControl;
  let folder: string;
  let logged: [level: string, fields: object][];

  beforeEach(async () => {
    control = await startControl({
      routes: (context) => [...policySetRoutes(context, compile), ...rolloutRoutes(context)],
    });
    folder = await mkdtemp(join(tmpdir(), "gatehouse-folder-"));
    logged = [];
  });
  afterEach(async () => {
    await control.close();
    await rm(folder, { recursive: true });
  });

  function dependencies(of = control) {
    const method = (level: string) => (first: object | string) =>
      void logged.push([level, typeof first === "string" ? {} : first]);
    const log = {
      debug: method("debug"),
      info: method("info"),
      warn: method("warn"),
      error: method("error"),
    };
    return { context: { db: of.context.db, units: of.context.units, log }, compile };
  }
  const write = (text: string, name = "main.yaml") => writeFile(join(folder, name), text);
  const publish = () => publishFolder(dependencies(), folder, "main");
  const active = async () =>
    (await control.request("GET", "/policy-sets/main")).body?.data?.active_version as
      string | null | undefined;
  const post = (path: string, body?: object) =>
    control.request("POST", `/policy-sets/main/${path}`, body === undefined ? {} : { body });

  it("waits for the end of a rollout, and publishes then", async () => {
    await write(setText("admin"));
    await publish();
    const candidate = { name: "main", files: setOf("v2", "other"), activate: false };
    assert.equal((await control.request("POST", "/policy-sets", { body: candidate })).status, 201);
    assert.equal((await post("rollout", { version: "v2" })).status, 201);
    assert.equal((await publish()).kind, "unchanged");
    await write(setText("guest", "v3"));
    for (let n = 0; n < 2; n += 1) assert.deepEqual(await publish(), { kind: "waiting", version: "v2" });
    assert.equal(await active(), "v1");
    assert.equal((await post("rollout/abort")).status, 200);
    assert.equal((await publish()).kind, "published");
    assert.equal(await active(), "v3");
  });

  it("publishes and activates what is there, and not twice", async () => {
    await write(setText("admin"));
    const first = await publish();
    assert.equal(first.kind, "published");
    assert.equal(await active(), "v1");
    const version = await control.request("GET", "/policy-sets/main/versions/v1");
    assert.equal(version.body.data.published_by.kind, "system");
    assert.equal((await publish()).kind, "unchanged");
    assert.equal((await control.request("GET", "/policy-sets/main")).body.data.versions, 1);
  });

  it("publishes a version of its own where the one of the head is taken", async () => {
    await write(setText("admin"));
    await publish();
    await write(setText("viewer"));
    const outcome = await publish();
    assert.ok(outcome.kind === "published");
    assert.equal(outcome.version, `v1+${outcome.digest.slice(0, 8)}`);
    assert.equal(await active(), outcome.version);
    const path = `/policy-sets/main/versions/${outcome.version}`;
    assert.equal((await control.request("GET", path)).body.data.files[0].text, setText("viewer"));
    // back to what was there, which is a version already
    await write(setText("admin"));
    assert.deepEqual(await publish(), { ...(await publishedAs("v1")), kind: "published" });
    assert.equal(await active(), "v1");
    assert.equal((await control.request("GET", "/policy-sets/main")).body.data.versions, 2);
    assert.equal((await post("activate", { version: outcome.version })).status, 200);
  });

  async function publishedAs(version: string): Promise<{ version: string; digest: string }> {
    const { digest } = (await control.request("GET", `/policy-sets/main/versions/${version}`)).body.data;
    return { version, digest: digest as string };
  }

  it("does not undo a rollback while the folder stays as it is", async () => {
    await write(setText("admin"));
    await publish();
    await write(setText("admin", "v2"));
    await publish();
    assert.equal((await post("rollback")).status, 200);
    assert.equal((await publish()).kind, "unchanged");
    assert.equal(await active(), "v1");
  });

  it("says so when a change of the folder replaces what was activated through the API", async () => {
    await write(setText("admin"));
    await publish();
    await write(setText("admin", "v2"));
    assert.ok(!("replaced" in (await publish())));
    assert.equal((await post("activate", { version: "v1" })).status, 200);
    // of the folder itself, and of somebody else
    await write(setText("admin", "v3"));
    const third = await publish();
    assert.ok(third.kind === "published");
    assert.equal(third.replaced, "v1");
    assert.deepEqual(logged.at(-1)?.[0], "warn");
    const files = [{ name: "main.yaml", text: setText("viewer", "mine") }];
    assert.equal(
      (await control.request("POST", "/policy-sets", { body: { name: "main", files } })).status,
      201,
    );
    assert.equal((await publish()).kind, "unchanged");
    assert.equal(await active(), "mine");
    await write(setText("admin", "v4"));
    const fourth = await publish();
    assert.ok(fourth.kind === "published");
    assert.equal(fourth.replaced, "mine");
  });

  it("changes nothing for an invalid set, and logs what the command line would say", async () => {
    await write(setText("admin"));
    await publish();
    await write("policies: 1\n");
    const outcome = await publish();
    assert.ok(outcome.kind === "invalid");
    assert.match(outcome.report, /^main\.yaml:1:/);
    assert.deepEqual(logged.at(-1), ["error", { policy_set: "main", report: outcome.report }]);
    assert.equal(await active(), "v1");
    await rm(join(folder, "main.yaml"));
    const gone = await publish();
    assert.ok(gone.kind === "invalid");
    assert.match(gone.report, /no-policy-set/);
    assert.equal(await active(), "v1");
  });

  it("is warned of permits by a role alone once several customers have identity providers", async () => {
    const reports: unknown[] = [];
    for (const [version, domain] of [
      ["v1", "a.example.com"],
      ["v2", "b.example.com"],
      ["v3", undefined],
    ] as const) {
      await write(setText("admin", version));
      assert.equal((await publish()).kind, "published");
      reports.push((logged.at(-1)?.[1] as { report?: string }).report);
      if (domain === undefined) continue;
      const times = { created_at: new Date(), updated_at: new Date() };
      await control.context.db("customers").insert({
        ...{ id: `cus_${version}`, name: domain, name_key: domain, status: "active" },
        ...{ allowed_return_urls: [], metadata: {}, ...times },
      });
      await control.context.db("customer_idps").insert({
        ...{ customer_id: `cus_${version}`, type: "oidc", domain, issuer: `https://${domain}` },
        ...{ client_id: "c", client_secret: "sealed", scopes: [], claims: {}, revision: 1, ...times },
      });
    }
    assert.deepEqual(reports.slice(0, 2), [undefined, undefined]);
    assert.match(String(reports[2]), /^main\.yaml:4:.*warning: .*\[role-without-customer\]/);
  });

  it("publishes once when two instances start at once", async () => {
    await write(setText("admin"));
    const second = await startControl({ database: control.database, routes: () => [] });
    try {
      const outcomes = await Promise.all([publish(), publishFolder(dependencies(second), folder, "main")]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["published", "unchanged"]);
    } finally {
      await second.close();
    }
  });

  it("leaves what another instance has published from a folder of its own, until its own changes", async () => {
    const other = await mkdtemp(join(tmpdir(), "gatehouse-folder-"));
    try {
      await write(setText("admin"));
      await publish();
      await writeFile(join(other, "main.yaml"), setText("viewer", "other"));
      assert.equal((await publishFolder(dependencies(), other, "main")).kind, "published");
      // as after a restart
      assert.equal((await publish()).kind, "unchanged");
      assert.equal((await publishFolder(dependencies(), other, "main")).kind, "unchanged");
      assert.equal(await active(), "other");
      await write(setText("admin", "v2"));
      assert.equal((await publish()).kind, "published");
      assert.equal((await publishFolder(dependencies(), other, "main")).kind, "unchanged");
      assert.equal(await active(), "v2");
      // back to what it was is a change as well
      await write(setText("admin"));
      assert.equal((await publish()).kind, "published");
      assert.equal(await active(), "v1");
    } finally {
      await rm(other, { recursive: true });
    }
  });

  it("follows a folder of several files as it changes, through errors", async () => {
    await mkdir(join(folder, "main"));
    await write(setText("admin"), "main/a.yaml");
    const publisher = startFolderPublisher(dependencies(), {
      directory: folder,
      policySet: "main",
      intervalMs: 200,
    });
    try {
      await eventually("the first version", async () => (await active()) === "v1");
      await write("policies: 1\n", "main/b.yaml");
      await eventually("a report", () => logged.some(([level]) => level === "error"));
      assert.equal(await active(), "v1");
      await write(`policies:\n  - resource: "GET /b"\n    condition: user.role == "x"\n`, "main/b.yaml");
      await eventually("the second version", async () => (await active())?.startsWith("v1+"));
    } finally {
      await publisher.close();
    }
  });

  it("is compiled once while it waits for the end of a rollout", async () => {
    await write(setText("admin"));
    await publish();
    const candidate = { name: "main", files: setOf("v2", "other"), activate: false };
    assert.equal((await control.request("POST", "/policy-sets", { body: candidate })).status, 201);
    assert.equal((await post("rollout", { version: "v2" })).status, 201);
    await write(setText("guest", "v3"));
    let [compiled, looks] = [0, 0];
    const publisher = startFolderPublisher(
      {
        ...dependencies(),
        compile: (task) => {
          compiled += 1;
          return compile(task);
        },
      },
      { directory: folder, policySet: "main", intervalMs: 50, onAttempt: () => (looks += 1) },
    );
    try {
      await eventually("several looks", () => looks > 3);
      assert.equal(compiled, 1);
      assert.equal((await post("rollout/abort")).status, 200);
      await eventually("the version of the folder", async () => (await active()) === "v3");
    } finally {
      await publisher.close();
    }
  });

  it("publishes when the database is there again", async () => {
    await write(setText("admin"));
    let failures = 2;
    const { context, compile } = dependencies();
    const units: typeof context.units = (origin, work) =>
      failures-- > 0 ? Promise.reject(new Error("the database is away")) : context.units(origin, work);
    const publisher = startFolderPublisher(
      { context: { ...context, units }, compile },
      { directory: folder, policySet: "main", intervalMs: 50 },
    );
    try {
      await eventually("the version", async () => (await active()) === "v1");
      assert.equal(failures, -1);
    } finally {
      await publisher.close();
    }
  });
});
