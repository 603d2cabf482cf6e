import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { dump } from "js-yaml";
import { bundleFunction } from "../test/processes/lambda/bundle.ts";
import { eventOf } from "../test/authorizers/aws/support/events.ts";
import { FakeControlPlane } from "../test/support/fake-control-plane.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { effort } from "./effort.ts";
import { policySetOf } from "./rules.ts";
import { median } from "./statistics.ts";

const run = promisify(execFile);

interface StartRow {
  readonly what: string;
  readonly rules: number;
  readonly bundle_kb: number;
  /** From the start of the process to the first answer. */
  readonly first_answer_ms: number;
  readonly longest_ms: number;
  /** Of the same process, for the same event. */
  readonly second_answer_ms: number;
}

const CODE = `import { createHandler } from "@gatehouse-access/gatehouse/aws-lambda";
export const handler = createHandler();
`;
const RUNTIME = `
const { handler } = await import("./authorizer.mjs");
const event = JSON.parse(process.argv[2]);
const ask = () => handler(event).catch((error) => { process.stderr.write(String(error)); process.exit(1); });
await ask();
const first = performance.now();
await ask();
process.stderr.write("\\nTIMES " + JSON.stringify([first, performance.now() - first]) + "\\n");
process.exit(0);
`;

/** How soon a new process of a Lambda authorizer has answered. */
export async function benchmarkAwsLambda(): Promise<readonly StartRow[]> {
  const { directory, bytes } = await bundleFunction(CODE);
  const issuer = await startIssuer();
  const plane = await FakeControlPlane.start();
  try {
    await writeFile(join(directory, "runtime.mjs"), RUNTIME);
    await writeFile(join(directory, "jwks.json"), JSON.stringify({ keys: issuer.publicKeys() }));
    await mkdir(join(directory, "policies"));
    const config = (more: object) => ({
      identity: { issuer: issuer.url, audience: issuer.audience, jwks: "jwks.json" },
      authz: { aws: { uncached: true } },
      ...more,
    });
    const rows: StartRow[] = [];
    for (const [what, rules, published] of [
      ["a folder", 20, false],
      ["a folder", 1000, false],
      ["a published set", 20, true],
    ] as const) {
      const text = policySetOf(rules).replace(
        "policies:\n",
        'policies:\n  - { resource: "GET /open", condition: "true" }\n',
      );
      await writeFile(join(directory, "policies/default.yaml"), text);
      plane.activate("default", {
        version: String(rules),
        digest: what,
        files: [{ name: "default.yaml", text }],
      });
      const more = {
        policies: { source: "control_plane" },
        control_plane: { url: plane.url, api_key: plane.apiKey },
      };
      await writeFile(join(directory, "gateway.yaml"), dump(config(published ? more : {})));
      const times: (readonly [first: number, second: number])[] = [];
      for (let round = 0; round < effort(20); round += 1) times.push(await timesIn(directory));
      const first = times.map(([time]) => time);
      rows.push({
        what,
        rules,
        bundle_kb: Math.round(bytes / 1024),
        first_answer_ms: Math.round(median(first)),
        longest_ms: Math.round(Math.max(...first)),
        second_answer_ms: Number(median(times.map(([, time]) => time)).toFixed(1)),
      });
    }
    return rows;
  } finally {
    await plane.close();
    await issuer.close();
  }
}

async function timesIn(directory: string): Promise<readonly [first: number, second: number]> {
  const event = JSON.stringify(eventOf("rest", { target: "/open" }));
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined };
  const { stderr } = await run(process.execPath, ["runtime.mjs", event], { cwd: directory, env });
  const [, times] = /^TIMES (.*)$/m.exec(stderr) ?? [];
  if (times === undefined) throw new Error(stderr);
  return JSON.parse(times) as [number, number];
}
