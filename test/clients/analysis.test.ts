import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import fc from "fast-check";
import {
  compareConditions,
  requestDomains,
  UNRESTRICTED,
  type Finding,
} from "../../src/policy/analyze/index.ts";
import { formatExpression } from "../../src/policy/index.ts";
import { runs } from "../support/runs.ts";
import { conditionPair, type ConditionPair } from "./support/condition-pairs.ts";
import { installPythonPackages } from "./support/python-packages.ts";

const SUPPORT = join(import.meta.dirname, "support");

/** What Z3 found: whether attributes exist over which only one of the two conditions is true. */
interface Answer {
  readonly gained: "sat" | "unsat" | "unknown";
  readonly lost: "sat" | "unsat" | "unknown";
}

/** Asks the oracle for all pairs, in several processes. */
async function askOracle(
  packages: string,
  pairs: readonly ConditionPair[],
  processes: number,
): Promise<Answer[]> {
  const size = Math.ceil(pairs.length / processes);
  const parts = Array.from({ length: processes }, (_, index) =>
    pairs.slice(index * size, (index + 1) * size),
  );
  const answers = await Promise.all(parts.map((part) => askOneOracle(packages, part)));
  return answers.flat();
}

async function askOneOracle(packages: string, pairs: readonly ConditionPair[]): Promise<Answer[]> {
  const oracle = spawn("python3", [join(SUPPORT, "condition_oracle.py")], {
    env: { ...process.env, PYTHONPATH: packages },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(oracle, "close");
  oracle.stdin.end(pairs.map((pair) => `${JSON.stringify(pair)}\n`).join(""));
  const answers: Answer[] = [];
  for await (const line of createInterface(oracle.stdout)) answers.push(JSON.parse(line) as Answer);
  assert.deepEqual(await ended, [0, null]);
  assert.equal(answers.length, pairs.length);
  return answers;
}

describe("what differs between two conditions", function () {
  this.timeout(1_800_000);

  it("agrees with an independent solver", async () => {
    const packages = await installPythonPackages("z3", join(SUPPORT, "oracle-requirements.txt"));
    const seed = Number(process.env["FUZZ_SEED"] ?? 63);
    const pairs = fc.sample(conditionPair, { numRuns: runs(1000), seed });
    const answers = await askOracle(packages, pairs, 2);
    const counts = { "found, sat": 0, "none, unsat": 0, undecided: 0, "unknown to the oracle": 0 };
    const disagreements: string[] = [];
    for (const [index, pair] of pairs.entries()) {
      const domains = pair.request ? requestDomains() : UNRESTRICTED;
      const comparison = compareConditions(pair.before, pair.after, domains);
      const answer = answers[index];
      assert.ok(answer);
      for (const side of ["gained", "lost"] as const) {
        const outcome = outcomeOf(comparison[side], answer[side]);
        if (outcome in counts) counts[outcome as keyof typeof counts] += 1;
        else disagreements.push(describePair(pair, `${side}: ${outcome}`));
      }
    }
    console.log(`      ${pairs.length} pairs, both ways: ${JSON.stringify(counts)}`);
    assert.deepEqual(disagreements.slice(0, 10), [], `${disagreements.length} disagreements`);
    // nearly everything is decided, one way and the other
    const sum = 2 * pairs.length;
    assert.ok(counts["found, sat"] > sum / 5 && counts["none, unsat"] > sum / 5, JSON.stringify(counts));
    assert.ok(counts.undecided < sum / 20, JSON.stringify(counts));
    assert.ok(counts["unknown to the oracle"] < sum / 100, JSON.stringify(counts));
  });
});

function outcomeOf({ kind }: Finding, oracle: Answer["gained"]): string {
  if (kind === "undecided") return kind;
  if (oracle === "unknown") return "unknown to the oracle";
  return `${kind}, ${oracle}`;
}

function describePair({ before, after, request }: ConditionPair, what: string): string {
  return `${what}${request ? " (of requests)" : ""}\n  ${formatExpression(before)}\n  ${formatExpression(after)}`;
}
