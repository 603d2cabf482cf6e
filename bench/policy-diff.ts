import { diffPolicySets } from "../src/policy/analyze/index.ts";
import { compilePolicySet, type PolicySetIR } from "../src/policy/index.ts";
import { effort } from "./effort.ts";
import { policySetOf } from "./rules.ts";
import { median } from "./statistics.ts";

interface DiffRow {
  readonly change: string;
  readonly rules: number;
  readonly differences: number;
  readonly compile_ms: number;
  readonly diff_ms: number;
}

const RULES = 1000;

/** What `gatehouse policy diff` takes for two sets of 1,000 rules, in turn with compiling the two. */
export function benchmarkPolicyDiff(): Promise<readonly DiffRow[]> {
  const base = policySetOf(RULES);
  const masks = `${base}response_masks:\n${Array.from({ length: RULES }, (_, index) => mask(index)).join("")}`;
  const changes: readonly (readonly [change: string, before: string, after: string])[] = [
    ["nothing", base, base],
    ["the condition of one rule", base, base.replace("manager", "director")],
    ["all conditions", base, base.replaceAll("condition: ", "condition: 'not user.suspended' # ")],
    ["all paths", base, base.replaceAll("/api/", "/v2/")],
    [
      "one more rule, for all paths",
      base,
      `${base}  - resource: "* /**"\n    condition: user.role == "operator"\n`,
    ],
    ["the conditions of 1,000 masks", masks, masks.replaceAll('"auditor"', '"revisor"')],
  ];
  return Promise.resolve(changes.map(([change, before, after]) => measure(change, before, after)));
}

function measure(change: string, before: string, after: string): DiffRow {
  const [compiling, comparing]: [number[], number[]] = [[], []];
  let differences = 0;
  for (let round = 0; round < effort(9); round++) {
    const start = performance.now();
    const [old, now] = [compiled(before), compiled(after)];
    const middle = performance.now();
    differences = diffPolicySets(old, now).length;
    comparing.push(performance.now() - middle);
    compiling.push(middle - start);
  }
  return {
    change,
    rules: compiled(before).rules.length,
    differences,
    compile_ms: Math.round(median(compiling)),
    diff_ms: Math.round(median(comparing)),
  };
}

function compiled(text: string): PolicySetIR {
  const { ir, diagnostics } = compilePolicySet([{ name: "bench.yaml", text }]);
  if (ir === undefined) throw new Error(JSON.stringify(diagnostics[0]));
  return ir;
}

function mask(index: number): string {
  return `  - api_pattern: GET /api/service-${index}/items/{item_id}
    fields: [{ name: ssn, mask_type: full, condition: 'user.role != "auditor" or item.level > ${index % 9}' }]
`;
}
