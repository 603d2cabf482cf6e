import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { useIssuer } from "../../decision/support.ts";
import { eventually, Hopeless } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/deployment/authzen.md"), "utf8");
const blocks = (language: string) =>
  [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, text = ""]) =>
    of === language ? [text] : [],
  );

describe("docs: deployment with the Authorization API", function () {
  this.timeout(180_000);
  const idp = useIssuer();

  it("`gatehouse authz` answers each question of the page as it says", async () => {
    const directory = await temporaryDirectory();
    const port = await freePort();
    const [config = "", policies = "", staff = ""] = blocks("yaml");
    await mkdir(join(directory, "policies"));
    await writeFile(join(directory, "policies/default.yaml"), policies);
    await writeFile(join(directory, "staff.yaml"), staff);
    const more = `  listen: unix:authz.sock\ngateway: { cluster: { nodes: 1 } }\ntelemetry: { port: 0 }\naudit: { destination: file, path: audit.log }\n`;
    await writeFile(
      join(directory, "gateway.yaml"),
      `${config.replace("https://login.example.com", idp.issuer.url).replace("9292", String(port))}${more}`,
    );
    const child = spawn(process.execPath, [join(ROOT, "bin/gatehouse.js"), "authz"], {
      cwd: directory,
      // the machine may be busy
      env: { ...process.env, GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    try {
      await eventually("the ready line", () => {
        if (child.exitCode !== null) throw new Hopeless(stderr);
        return stdout.includes("ready on");
      });
      const [questions, answers] = [blocks("sh"), blocks("json")];
      assert.equal(questions.length, answers.length);
      for (const [index, question] of questions.entries()) {
        const answer = await run("sh", ["-e", "-c", question.replace("9292", String(port))]);
        assert.deepEqual(JSON.parse(answer.stdout), JSON.parse(answers[index] ?? ""), question);
      }
      const metadata = await fetch(`http://127.0.0.1:${port}/.well-known/authzen-configuration`);
      const { policy_decision_point: own, search_subject_endpoint: subjects } =
        (await metadata.json()) as Record<string, string>;
      assert.equal(own, "https://pdp.example.com");
      assert.equal(subjects, `${own}/access/v1/search/subject`);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
    const records = readFileSync(join(directory, "audit.log"), "utf8").trim().split("\n");
    assert.deepEqual(
      records.map((line) => (JSON.parse(line) as { reason: string }).reason),
      ["CONDITION_TRUE", "CONDITION_UNKNOWN"],
    );
  });
});
