import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../../../src/control/platform/environment.ts";
import { apiClient } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { ROOT, startUp, upFolder, type RunningUp } from "../../support/up.ts";

const PASSWORD = "Tr0mpete & Nebel";
const SET = `version: mine\npolicies:\n  - { resource: GET /mine, condition: "true" }\n`;

describe("end to end: `gatehouse up` again, in the same folder", function () {
  // three whole starts
  this.timeout(600_000);
  let folder: string;

  before(async () => {
    folder = await upFolder();
  });

  const sh = async (command: string) =>
    (await promisify(execFile)("sh", ["-c", command], { cwd: folder })).stdout.trim();
  const cli = (...args: string[]) =>
    sh([process.execPath, join(ROOT, "bin/gatehouse.js"), ...args].map((word) => `'${word}'`).join(" "));
  const address = ({ stdout }: RunningUp, environment: Environment) => {
    const label = environment === "production" ? "control plane" : "sandbox";
    return new RegExp(`^ {2}${label} +(http\\S+) `, "m").exec(stdout)?.[1] ?? "";
  };
  const key = async (environment: Environment) =>
    cli("keys", "create", "--environment", environment, "--scope", "full_access", "--name", "test");
  const become = (url: string, token: string) =>
    fetch(`${url}/v1/dashboard/setup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, email: "olga@example.com", name: "Olga", password: PASSWORD }),
    });
  const linksIn = (text: string) =>
    [...text.matchAll(/first owner of (\w+) \(.*\): http\S+\/setup\?token=(\S+)$/gm)].map(
      ([, environment, token]) => [environment, token] as const,
    );

  it("leaves production empty, and both environments as they were left; says which owner links are good", async () => {
    const first = await startUp(folder);
    const links = new Map(linksIn(first.stdout));
    const keys = { production: await key("production"), sandbox: await key("sandbox") };
    const active = async (up: RunningUp, environment: Environment) => {
      const { body } = await apiClient(address(up, environment), keys[environment])("GET", "/policy-sets");
      return (body.data as { name: string; active_version: string }[]).map(
        ({ name, active_version }) => `${name}@${active_version}`,
      );
    };
    try {
      assert.deepEqual([...links.keys()], ["production", "sandbox"]);
      const production = apiClient(address(first, "production"), keys.production);
      for (const path of ["/customers", "/policies", "/policy-sets", "/users", "/webhooks"])
        assert.deepEqual((await production("GET", path)).body.data, [], path);
      // as somebody uses it: a set of one's own, and in the sandbox another version than the folder's
      const files = [{ name: "default.yaml", text: SET }];
      assert.equal((await production("POST", "/policy-sets", { name: "default", files })).status, 201);
      const sandbox = apiClient(address(first, "sandbox"), keys.sandbox);
      assert.equal((await sandbox("POST", "/sandbox/reset")).status, 200);
      keys.sandbox = await key("sandbox");
      const again = apiClient(address(first, "sandbox"), keys.sandbox);
      assert.equal((await again("POST", "/policy-sets", { name: "default", files })).status, 201);
      assert.deepEqual(await active(first, "sandbox"), ["default@mine"]);
    } finally {
      await first.stop();
    }

    const second = await startUp(folder);
    try {
      assert.deepEqual(await active(second, "production"), ["default@mine"]);
      assert.deepEqual(await active(second, "sandbox"), ["default@mine"]);
      assert.deepEqual(linksIn(second.stdout), []);
      const kept =
        /^ {2}first owner of (\w+): the link printed by an earlier start is valid until .* UTC; for a new one run: (.*)$/gm;
      const commands = new Map([...second.stdout.matchAll(kept)].map(([, name, command]) => [name, command]));
      assert.deepEqual([...commands.keys()], ["production", "sandbox"]);
      // the first start's link works, and so does the command for another one, after which the first does not
      assert.equal(
        (await become(address(second, "production"), links.get("production") ?? "")).status,
        201,
        second.stdout,
      );
      const another = await sh(commands.get("sandbox") ?? "");
      assert.ok(another.startsWith(`${address(second, "sandbox")}/setup?token=`), another);
      assert.equal((await become(address(second, "sandbox"), links.get("sandbox") ?? "")).status, 401);
      const { status } = await become(
        address(second, "sandbox"),
        new URL(another).searchParams.get("token") ?? "",
      );
      assert.equal(status, 201);
    } finally {
      await second.stop();
    }

    const third = await startUp(folder);
    try {
      assert.doesNotMatch(third.stdout, /first owner/);
      await assert.rejects(
        cli("owner-link", "--environment", "production"),
        /production already has an owner/,
      );
      // an edit is what the folder is for: it is in force in the sandbox, and nowhere else
      const path = join(folder, "policies", "default.yaml");
      await sh(`sed -i.bak 's/^version: .*/version: edited/' '${path}'`);
      await eventually("the edit in the sandbox", async () =>
        (await active(third, "sandbox"))[0]?.startsWith("default@edited"),
      );
      assert.deepEqual(await active(third, "production"), ["default@mine"]);
    } finally {
      await third.stop();
    }
  });
});
