import {
  createSuiteSubject,
  replayChange,
  type ReplayedChange,
} from "../../../src/decision/explain/index.ts";
import { digestOf } from "../../../src/decision/policies/snapshot.ts";
import { diffPolicySets } from "../../../src/policy/analyze/index.ts";
import {
  compilePolicySet,
  formatPolicyFile,
  pathsIn,
  UNAVAILABLE,
  type PolicySetIR,
} from "../../../src/policy/index.ts";
import {
  conditionsOf,
  coverageBySet,
  coverageGap,
  describeActual,
  describeExpected,
  fieldText,
  parseSuite,
  runSuite,
  type Suite,
  type SuiteResult,
  type SuiteSubject,
} from "../../../src/policy/suite/index.ts";
import { explainTask } from "./explain-task.ts";
import type { ChangeView, CoverageView, SuiteView, Tasks, TaskName, WitnessView } from "./protocol.ts";

/** Says how far a task is. */
export type Progress = (done: number, total: number) => void;

/** What runs in the worker, by name: the code that the command line and the gateway run. */
export const tasks: {
  readonly [N in TaskName]: (
    input: Tasks[N]["asks"],
    progress: Progress,
  ) => Tasks[N]["gives"] | Promise<Tasks[N]["gives"]>;
} = {
  check({ name, files }) {
    const { ir, diagnostics } = compilePolicySet(files, { name });
    if (ir === undefined) return { diagnostics };
    const { name: written, version, rules } = ir;
    const set = { name: written, version, digest: digestOf(ir), rules: rules.length, reads: readsOf(ir) };
    return { diagnostics, set };
  },

  format: (file) => formatPolicyFile(file),

  async test({ set, suites }, progress) {
    const { ir, diagnostics } = compilePolicySet(set.files, { name: set.name });
    const parsed = suites.map((file) => parseSuite(file));
    const found = [...diagnostics, ...parsed.flatMap((one) => one.diagnostics)];
    const runnable = parsed.flatMap(({ suite }) => suite ?? []);
    if (ir === undefined || runnable.length < suites.length)
      return { diagnostics: found, suites: [], coverage: [] };
    const total = runnable.reduce((sum, { cases }) => sum + cases.length, 0);
    const subject = reporting(createSuiteSubject(ir), total, progress);
    const results: SuiteResult[] = [];
    for (const suite of runnable) results.push(await runSuite(ofSet(suite, ir), subject));
    return { diagnostics: found, suites: results.map(suiteView), coverage: coverageOf(ir, results) };
  },

  async compare({ before, after }, progress) {
    const [old, now] = [before, after].map(({ name, files }) => compilePolicySet(files, { name }));
    if (old?.ir === undefined || now?.ir === undefined) {
      const broken = [old, now].find((one) => one?.ir === undefined);
      return { diagnostics: broken?.diagnostics ?? [], changes: [] };
    }
    const found = diffPolicySets(old.ir, now.ir);
    const [oldSubject, nowSubject] = [createSuiteSubject(old.ir), createSuiteSubject(now.ir)];
    const changes: ChangeView[] = [];
    for (const change of found) {
      changes.push(changeView(await replayChange(change, oldSubject, nowSubject)));
      progress(changes.length, found.length);
    }
    return { diagnostics: [], changes };
  },

  explain: explainTask,
};

/** In the editor, a suite tests the set that is open, whatever that will be called. */
function ofSet(suite: Suite, { name }: PolicySetIR): Suite {
  return { ...suite, policySet: name };
}

function reporting(subject: SuiteSubject, total: number, progress: Progress): SuiteSubject {
  let done = 0;
  return {
    ...subject,
    async decide(input) {
      const decision = await subject.decide(input);
      progress((done += 1), total);
      return decision;
    },
  };
}

function suiteView({ file, cases }: SuiteResult): SuiteView {
  return {
    file,
    cases: cases.map((one) => {
      const explanation = one.actual?.explanation;
      return {
        ...{ name: one.name, line: one.line, ok: one.ok, differences: one.differences },
        ...{ expected: describeExpected(one.expected), actual: describeActual(one) },
        ...(explanation !== undefined && { explanation }),
      };
    }),
  };
}

/** Every condition, in the order of `conditionsOf`, with its place. */
function coverageOf(ir: PolicySetIR, results: readonly SuiteResult[]): CoverageView[] {
  const places = placesOf(ir);
  return [...coverageBySet(results).values()].flat().flatMap((rule) => {
    const { id, field, true: isTrue, false: isFalse, unknown } = rule;
    const at = places.get(keyOf(id, field));
    if (at === undefined) return [];
    const counts = { true: isTrue, false: isFalse, unknown };
    return { id: keyOf(id, field), file: at.file, line: at.line, ...counts, gap: coverageGap(rule) };
  });
}

function placesOf({ rules, responses, graphql, websocket }: PolicySetIR) {
  const messages = websocket.connections.flatMap((connection) => connection.messages);
  const own = [...rules, ...graphql.rules, ...websocket.connections, ...messages];
  const fields = [...responses, ...messages].flatMap((rule) =>
    rule.fields.map(({ field, at }) => [keyOf(rule.id, fieldText(field)), at] as const),
  );
  return new Map([...own.map(({ id, at }) => [id, at] as const), ...fields]);
}

function keyOf(id: string, field: string | undefined): string {
  return field === undefined ? id : `${id} ${field}`;
}

function readsOf(ir: PolicySetIR): string[] {
  const paths = conditionsOf(ir).flatMap(({ expression }) => [...pathsIn(expression)].map(pathText));
  return [...new Set(paths)].sort();
}

function pathText([root = "", ...members]: readonly string[]): string {
  return (
    root +
    members.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)).join("")
  );
}

function changeView({ before, after, gained, lost, ...change }: ReplayedChange): ChangeView {
  const at = (after ?? before)?.at;
  return {
    ...{ change: change.change, resource: change.resource, section: change.section, notes: change.notes },
    place: at === undefined ? change.section : `${at.file}:${at.line}`,
    ...(gained && { gained: witnessView(gained) }),
    ...(lost && { lost: witnessView(lost) }),
  };
}

function witnessView(witness: NonNullable<ReplayedChange["gained"]>): WitnessView {
  const attributes = JSON.stringify(witness.attributes, written, 2);
  if (!("input" in witness)) return { request: "", attributes };
  const { input, before, after } = witness;
  return {
    request: `${input.request.method} ${input.request.path ?? ""}`,
    attributes,
    before: before.explanation ?? before.reason,
    after: after.explanation ?? after.reason,
  };
}

/** What JSON cannot express: a source that failed, and a number that is not exact. */
function written(_: string, value: unknown): unknown {
  if (value === UNAVAILABLE) return "<unavailable>";
  return typeof value === "number" && Number.isNaN(value) ? "<a number that is not exact>" : value;
}
