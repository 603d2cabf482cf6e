import {
  CHANGE_KINDS,
  type ChangeKind,
  type DecisionRecord,
  type ReplayedRecord,
} from "../decision/replay/index.ts";
import { counted } from "../text/index.ts";

/** Groups are counted up to this many; what comes later counts as `(others)`, so that memory is bounded. */
const MAX_GROUPS = 50_000;
/** Changes and bad lines that are shown. */
const MAX_SHOWN = 20;
const OTHERS = "(others)";

type Counts = Map<string, Map<ChangeKind, number>>;

/** Adds up what replaying many records says, in bounded memory. */
export class ReplayReport {
  #records = 0;
  #unchanged = 0;
  #notReplayable = 0;
  #badLines = 0;
  #ofCandidateArm = 0;
  #reproduced = 0;
  #notReproduced = 0;
  readonly #changes = new Map<ChangeKind, number>();
  readonly #others = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #groups: Readonly<Record<"rule" | "resource" | "customer" | "user", Counts>> = {
    rule: new Map(),
    resource: new Map(),
    customer: new Map(),
    user: new Map(),
  };
  readonly #examples: object[] = [];
  readonly #mismatches: object[] = [];
  readonly #bad: object[] = [];

  /** @param event - what a record is about that is not that of a decision */
  addOther(event: string): void {
    count(this.#others, event);
  }

  addBadLine(file: string, line: number, problem: string): void {
    this.#badLines++;
    if (this.#bad.length < MAX_SHOWN) this.#bad.push({ file, line, problem });
  }

  add({ record, outcome, reproduced }: ReplayedRecord): void {
    this.#records++;
    if (record.rollout_arm === "candidate") this.#ofCandidateArm++;
    if (reproduced === true) this.#reproduced++;
    if (reproduced === false) {
      this.#notReproduced++;
      if (this.#mismatches.length < MAX_SHOWN) this.#mismatches.push(subjectOf(record));
    }
    if (outcome.kind === "not_replayable") {
      this.#notReplayable++;
      for (const reason of outcome.reasons) count(this.#reasons, reason);
      return;
    }
    const { change } = outcome;
    if (change === undefined) {
      this.#unchanged++;
      return;
    }
    const { kind, reason, rule, parts } = change;
    this.#changes.set(kind, (this.#changes.get(kind) ?? 0) + 1);
    const of = {
      rule: rule === undefined ? "(no rule)" : `${rule.id} ${rule.resource}`,
      resource: record.rule_resource === "" ? `${record.action} ${record.resource}` : record.rule_resource,
      customer: record.customer_id === "" ? "(none)" : record.customer_id,
      user: record.user_id === "" ? "(nobody)" : record.user_id,
    };
    for (const [by, counts] of Object.entries(this.#groups)) {
      const name = of[by as keyof typeof of];
      const key = counts.has(name) || counts.size < MAX_GROUPS ? name : OTHERS;
      const group = counts.get(key) ?? new Map<ChangeKind, number>();
      group.set(kind, (group.get(kind) ?? 0) + 1);
      counts.set(key, group);
    }
    if (this.#examples.length < MAX_SHOWN)
      this.#examples.push({
        change: kind,
        ...subjectOf(record),
        candidate: { reason, rule: rule ?? null, ...(parts && { parts }) },
      });
  }

  get hasFindings(): boolean {
    return this.#changes.size > 0 || this.#notReproduced > 0;
  }

  /** The part of the decisions that could be replayed, from 0 to 1. */
  get coverage(): number {
    return this.#records === 0 ? 0 : (this.#records - this.#notReplayable) / this.#records;
  }

  toJson(): object {
    return {
      decisions: this.#records,
      unchanged: this.#unchanged,
      ...Object.fromEntries(CHANGE_KINDS.map((kind) => [kind, this.#changes.get(kind) ?? 0])),
      not_replayable: this.#notReplayable,
      coverage: this.coverage,
      not_replayable_reasons: Object.fromEntries(byCount(this.#reasons)),
      by: Object.fromEntries(
        Object.entries(this.#groups).map(([by, counts]) => [
          by,
          ranked(counts).map(([name, group]) => ({ name, ...Object.fromEntries(group) })),
        ]),
      ),
      examples: this.#examples,
      reproduced: this.#reproduced,
      not_reproduced: this.#notReproduced,
      not_reproduced_examples: this.#mismatches,
      candidate_arm: this.#ofCandidateArm,
      other_records: Object.fromEntries(byCount(this.#others)),
      bad_lines: this.#badLines,
      bad_line_examples: this.#bad,
    };
  }

  toText(): string {
    const lines = [
      `${counted(this.#records, "decision")}: ${this.#unchanged} unchanged, ${CHANGE_KINDS.map((kind) => `${this.#changes.get(kind) ?? 0} ${LABELS[kind]}`).join(", ")}, ${this.#notReplayable} not replayable`,
      `coverage ${(Math.floor(this.coverage * 1000) / 10).toFixed(1)} %`,
    ];
    for (const [reason, number] of byCount(this.#reasons))
      lines.push(`  ${number}  not replayable: ${reason}`);
    for (const [by, counts] of Object.entries(this.#groups)) {
      if (counts.size === 0) continue;
      lines.push("", `by ${by}`, `  ${CHANGE_KINDS.map((kind) => LABELS[kind].padStart(WIDTH)).join("")}`);
      for (const [name, group] of ranked(counts).slice(0, MAX_SHOWN))
        lines.push(
          `  ${CHANGE_KINDS.map((kind) => String(group.get(kind) ?? 0).padStart(WIDTH)).join("")}  ${name}`,
        );
      if (counts.size > MAX_SHOWN) lines.push(`  and ${counts.size - MAX_SHOWN} more (--json has all)`);
    }
    if (this.#notReproduced > 0)
      lines.push(
        "",
        `${this.#notReproduced} recorded verdicts are not those of the stable set (--json has examples)`,
      );
    if (this.#ofCandidateArm > 0)
      lines.push("", `${counted(this.#ofCandidateArm, "decision")} of the candidate of a rollout`);
    if (this.#others.size > 0)
      lines.push(
        "",
        `records of other kinds: ${byCount(this.#others)
          .map(([event, number]) => `${number} ${event}`)
          .join(", ")}`,
      );
    if (this.#badLines > 0) lines.push("", `${counted(this.#badLines, "bad line")}:`);
    for (const bad of this.#bad as { file: string; line: number; problem: string }[])
      lines.push(`  ${bad.file}:${bad.line}: ${bad.problem}`);
    return `${lines.join("\n")}\n`;
  }
}

const WIDTH = 11;
const LABELS: Readonly<Record<ChangeKind, string>> = {
  loses: "lose",
  gains: "gain",
  sees_less: "see less",
  sees_more: "see more",
};

function subjectOf(record: DecisionRecord): object {
  const { timestamp, decision_id, user_id, customer_id, action, resource, decision, reason, rule } = record;
  return { timestamp, decision_id, user_id, customer_id, action, resource, decision, reason, rule };
}

function count(counts: Map<string, number>, name: string): void {
  const key = counts.has(name) || counts.size < MAX_GROUPS ? name : OTHERS;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function byCount(counts: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function ranked(counts: Counts): (readonly [string, ReadonlyMap<ChangeKind, number>])[] {
  const total = (group: ReadonlyMap<ChangeKind, number>) =>
    [...group.values()].reduce((sum, one) => sum + one, 0);
  return [...counts].sort((a, b) => total(b[1]) - total(a[1]));
}
