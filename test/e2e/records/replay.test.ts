import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderOf, gatehouse, type Folder } from "../../cli/support.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const KEY = "an-end-to-end-key-for-hashes-of-inputs";

const policiesOf = (department: string, header: string) => `
policies:
  - { resource: "GET /orders/{id}", condition: 'user.department == "${department}"' }
  - { resource: GET /teams, condition: 'request.headers["x-team"] == "${header}"' }
  - { resource: GET /keys, condition: 'request.headers.authorization != "a" and request.headers.cookie != "b"' }
web_policies:
  - { path: /open/*, condition: true }
`;
const STABLE = policiesOf("sales", "red");
const USERS = { "u-sales": "sales", "u-support": "support", "u-other": "other" } as const;

interface Report {
  readonly decisions: number;
  readonly unchanged: number;
  readonly loses: number;
  readonly gains: number;
  readonly coverage: number;
  readonly not_replayable_reasons: Readonly<Record<string, number>>;
  readonly reproduced: number;
  readonly not_reproduced: number;
  readonly by: { readonly user: readonly object[]; readonly resource: readonly object[] };
}

describe("end to end: records that are replayed", () => {
  let application: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let folder: Folder;
  const secrets: string[] = [];
  const sent: number[] = [];

  before(async () => {
    [application, issuer, folder] = await Promise.all([
      startRecordingUpstream(),
      startIssuer(),
      folderOf({
        "stable/default.yaml": STABLE,
        "department/default.yaml": policiesOf("support", "red"),
        "team/default.yaml": policiesOf("sales", "blue"),
        "inputs.key": KEY,
      }),
    ]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": STABLE },
      config: {
        identity: { issuer: issuer.url, audience: issuer.audience, cookie: "session" },
        audit: {
          destination: "file",
          path: join(folder.path, "audit.log"),
          inputs: true,
          inputs_values: ["user", "request.headers"],
          inputs_others: "hash",
          inputs_key_file: join(folder.path, "inputs.key"),
        },
      },
    });
    const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${gateway.url}${path}`, { headers });
      await response.arrayBuffer();
      sent.push(response.status);
    };
    for (const [sub, department] of Object.entries(USERS)) {
      const token = await issuer.token({ sub, department, api_token: "c2VjcmV0LWNsYWlt", note: "plain" });
      secrets.push(token, ...token.split("."));
      const authorization = `Bearer ${token}`;
      await ask("/orders/1?access_token=cXVlcnktc2VjcmV0", { authorization });
      await ask("/teams", { authorization, "x-team": sub === "u-sales" ? "red" : "blue" });
      await ask("/keys", { authorization, cookie: "sid=Y29va2llLXNlY3JldA; other=b3RoZXItc2VjcmV0" });
    }
    // in a path, where no rule looks
    await ask(`/open/${secrets[0] ?? ""}`);
    await ask("/orders/1", { authorization: "Bearer bm90LWEtdG9rZW4tYXQtYWxs" });
    secrets.push("c2VjcmV0LWNsYWlt", "cXVlcnktc2VjcmV0", "Y29va2llLXNlY3JldA", "b3RoZXItc2VjcmV0");
    secrets.push("bm90LWEtdG9rZW4tYXQtYWxs");
    const read = async () =>
      (await readFile(join(folder.path, "audit.log"), "utf8").catch(() => "")).split("\n").length - 1;
    await eventually("all records", async () => (await read()) >= sent.length);
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([application.close(), issuer.close(), folder.remove()]);
  });

  const replay = async (candidate: string) => {
    const args = ["--records", "audit.log", "--candidate", candidate, "--stable", "stable"];
    const { code, stdout, stderr } = await gatehouse(
      ["replay", ...args, "--key-file", "inputs.key", "--json"],
      { cwd: folder.path },
    );
    assert.ok(code === 0 || code === 1, stderr);
    return { code, report: JSON.parse(stdout) as Report };
  };

  it("decided as the test expects", () => {
    assert.deepEqual(sent, [200, 200, 200, 403, 403, 200, 403, 403, 200, 200, 401]);
  });

  it("does not replay what depends on a credential, and says so", async () => {
    const { report } = await replay("stable");
    assert.deepEqual([report.decisions, report.unchanged, report.not_reproduced], [11, 7, 0]);
    assert.deepEqual(report.not_replayable_reasons, {
      "the value of `request.headers.authorization` is redacted": 3,
      "the value of `request.headers.cookie` is redacted": 3,
      "the path or operation contains what looks like a credential": 1,
    });
  });

  it("says unchanged for the same set, of everything else", async () => {
    await keep(({ resource }) => !resource.startsWith("/open/") && resource !== "/keys");
    const { code, report } = await replay("stable");
    assert.deepEqual(
      [report.decisions, report.unchanged, report.coverage, report.reproduced, report.not_reproduced, code],
      [7, 7, 1, 7, 0, 0],
    );
  });

  it("says which users lose and gain with another set", async () => {
    const department = await replay("department");
    assert.equal(department.code, 1);
    assert.deepEqual(department.report.by.user, [
      { name: "u-sales", loses: 1 },
      { name: "u-support", gains: 1 },
    ]);
    assert.deepEqual(department.report.by.resource, [{ name: "GET /orders/{id}", loses: 1, gains: 1 }]);
    const team = await replay("team");
    assert.deepEqual(team.report.by.user, [
      { name: "u-sales", loses: 1 },
      { name: "u-support", gains: 1 },
      { name: "u-other", gains: 1 },
    ]);
  });

  it("has written no token, cookie or authorization", async () => {
    const text = await readFile(join(folder.path, "all.log"), "utf8");
    assert.match(text, /"user\.department":"sales"/);
    assert.match(text, /"left_out":"credential"/);
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
    assert.doesNotMatch(text, /Bearer/i);
  });

  /** Keeps the file that the gateway wrote as `all.log`, and leaves a part of its records to be replayed. */
  async function keep(isKept: (record: { readonly resource: string }) => boolean): Promise<void> {
    const path = join(folder.path, "audit.log");
    const text = await readFile(path, "utf8");
    await writeFile(join(folder.path, "all.log"), text);
    const lines = text.split("\n").filter((line) => line !== "" && isKept(JSON.parse(line) as never));
    await writeFile(path, `${lines.join("\n")}\n`);
  }
});
