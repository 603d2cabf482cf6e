import { renderDiagnostics, rulesOf, summarizeErrors } from "../../policy/index.ts";
import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { compileInThread, type Compilation } from "./compile-thread.ts";
import { findNotProvided, type Provisions } from "./not-provided.ts";
import type { PolicySource, SourcedSet } from "./policy-source.ts";
import { ruleReference } from "./rule-reference.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";
import { errorMessage } from "../../text/index.ts";

/** Where the set comes from and how often it is looked at. */
export interface PolicyStoreOptions {
  readonly source: PolicySource;
  readonly policySet: string;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
  /** What it means that none is in force; default: it is the gateway's own set. */
  readonly whileAbsent?: string;
  /** What the configuration provides; what the set reads beside it is logged. */
  readonly provisions?: Provisions;
}

/** Why the newest state of the source is not in force. */
interface Problem {
  readonly what: string;
  /** In one line. */
  readonly summary: string;
  /** For the log. */
  readonly fields: object;
  /** What the source has is not known: it may be what is in force. */
  readonly isUnread?: true;
}

const WHILE_ABSENT = "no policy set is in force, so every request is refused";

interface Log {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}

/** A set may have thousands of rules that read the same. */
const MAX_WARNINGS = 100;

type PolicyMetrics = Pick<
  Metrics,
  "cacheHits" | "cacheMisses" | "policyReloads" | "policyReloadTime" | "policyReloadFailed" | "policySetInfo"
>;

/**
 * The policy set in force. A change is compiled aside and put in force by one assignment; a set that has an error
 * changes nothing, and the last good one stays.
 */
export class PolicyStore {
  readonly #options: PolicyStoreOptions;
  readonly #metrics: PolicyMetrics;
  readonly #log: Log;
  readonly #listeners: ((snapshot: Snapshot) => void | Promise<void>)[] = [];
  readonly #followers: (() => void)[] = [];
  #current: Snapshot | undefined;
  #seen = "";
  /** Of what was seen last. */
  #seenProblem: Problem | undefined;
  #problem: Problem | undefined;
  #loading: Promise<void> | undefined;
  #again = false;
  #stopWatching: (() => void) | undefined;
  #looking: Job | undefined;
  #closed = false;

  constructor(
    options: PolicyStoreOptions,
    dependencies: { readonly metrics: PolicyMetrics; readonly log: Log },
  ) {
    this.#options = options;
    this.#metrics = dependencies.metrics;
    this.#log = dependencies.log;
  }

  /** The set in force; `undefined` until a good one was loaded. */
  get current(): Snapshot | undefined {
    return this.#current;
  }

  /** How it is with the set in force, and with its newest version. */
  status(): CheckStatus {
    const problem = this.#problem;
    const current = this.#current;
    if (current === undefined) {
      const why = problem?.summary ?? `\`${this.#options.policySet}\` has not been read yet`;
      return { ok: false, detail: `no policy set is in force: ${why}` };
    }
    const inForce = `${current.label} is in force`;
    if (problem === undefined) return { ok: true, detail: inForce };
    const what = problem.isUnread ? "whether it is the newest is not known" : "its newest version is not";
    return { ok: true, detail: `${inForce}; ${what}: ${problem.summary}` };
  }

  /** Whether what the source has now could not be put in force. */
  get failing(): boolean {
    return this.#problem !== undefined;
  }

  /** Calls `listener` before each new set is put in force, and waits for it. */
  beforeChange(listener: (snapshot: Snapshot) => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Calls `follower` after each new set was put in force. */
  afterChange(follower: () => void): void {
    this.#followers.push(follower);
  }

  /** Loads the set for the first time and goes on watching it. Never rejects; look at {@link current}. */
  async start(): Promise<void> {
    const { source, policySet, refreshIntervalMs } = this.#options;
    // before the first look, so that nothing is missed in between
    this.#stopWatching = source.watch(policySet, () => void this.refresh());
    const what = `look at the policy set \`${policySet}\``;
    this.#looking = every(refreshIntervalMs, () => this.refresh(), { what, log: this.#log });
    await this.refresh();
  }

  /** Looks at the source now. Calls that come while one is under way share the one after it. */
  async refresh(): Promise<void> {
    if (this.#loading !== undefined) {
      this.#again = true;
      return this.#loading;
    }
    this.#loading = this.#refreshUntilQuiet();
    try {
      await this.#loading;
    } finally {
      this.#loading = undefined;
    }
  }

  /** Stops watching. The set in force stays readable. */
  close(): void {
    this.#closed = true;
    void this.#looking?.close();
    this.#stopWatching?.();
  }

  async #refreshUntilQuiet(): Promise<void> {
    this.#again = false;
    try {
      const { source, policySet } = this.#options;
      await this.#load(await source.read(policySet, this.#seen));
    } catch (error) {
      this.#failed({ ...unexpected("the policy set cannot be read", error), isUnread: true });
    }
    if (this.#mustLookAgain()) await this.#refreshUntilQuiet();
  }

  /** Somebody asked while a look was under way: what it found may be older than what they know. */
  #mustLookAgain(): boolean {
    return this.#again && !this.#closed;
  }

  async #load(set: SourcedSet): Promise<void> {
    const { policySet, caseSensitive } = this.#options;
    if (set.fingerprint === this.#seen && this.#seen !== "") {
      this.#metrics.cacheHits.inc({ cache: "policy_sets" });
      this.#metrics.policyReloads.inc({ result: "unchanged" });
      // in between the source may not have answered, or workers not have loaded another set
      this.#note(this.#seenProblem);
      return;
    }
    this.#metrics.cacheMisses.inc({ cache: "policy_sets" });
    const { ir, diagnostics }: Compilation =
      set.diagnostics.length > 0 ? set : await compileInThread(set.files, policySet);
    const report = diagnostics.length > 0 ? renderDiagnostics([...diagnostics], [...set.files]) : undefined;
    if (ir === undefined) {
      this.#seen = set.fingerprint;
      this.#seenProblem = {
        what: "the policy set has errors",
        summary: summarizeErrors(diagnostics),
        fields: { report },
      };
      this.#failed(this.#seenProblem);
      return;
    }
    const made = createSnapshot(ir, { caseSensitive });
    const snapshot = set.version === undefined ? made : { ...made, label: `${ir.name}@${set.version}` };
    try {
      // a listener that throws is asked again at the next look: the set is not `seen` before it is in force
      for (const listener of this.#listeners) await listener(snapshot);
    } catch (error) {
      this.#failed(unexpected(`${snapshot.label} cannot be put in force`, error));
      return;
    }
    this.#putInForce(snapshot);
    this.#seen = set.fingerprint;
    for (const follower of this.#followers) follower();
    this.#log.info(
      {
        policy_set: snapshot.label,
        digest: snapshot.digest,
        rules: rulesOf(ir).length,
        ...(report && { report }),
      },
      "policy set in force",
    );
    this.#warnOfNotProvided(snapshot);
  }

  /** Rules that this gateway cannot feed are in force, and their author does not see that they deny everybody. */
  #warnOfNotProvided({ ir, label }: Snapshot): void {
    const { provisions } = this.#options;
    if (provisions === undefined) return;
    const found = findNotProvided(ir, provisions);
    for (const { rule, at, message, hint, configure } of found.slice(0, MAX_WARNINGS)) {
      const { id, name } = ruleReference(rule);
      const place = { rule: id, ...(name !== undefined && { rule_name: name }), at: `${at.file}:${at.line}` };
      this.#log.warn({ policy_set: label, ...place, configure, hint }, `a rule reads in vain: ${message}`);
    }
    if (found.length <= MAX_WARNINGS) return;
    this.#log.warn(
      { policy_set: label, more: found.length - MAX_WARNINGS },
      "more rules read in vain what is not configured: `gatehouse policy validate --config` lists them",
    );
  }

  #putInForce(snapshot: Snapshot): void {
    this.#current = snapshot;
    this.#seenProblem = undefined;
    this.#problem = undefined;
    this.#metrics.policyReloads.inc({ result: "loaded" });
    this.#metrics.policyReloadTime.setToCurrentTime();
    this.#metrics.policyReloadFailed.set({ source: this.#options.source.kind }, 0);
    this.#metrics.policySetInfo.reset();
    this.#metrics.policySetInfo.set({ policy_set: snapshot.label, digest: snapshot.digest }, 1);
  }

  #failed(problem: Problem): void {
    this.#metrics.policyReloads.inc({ result: "failed" });
    this.#note(problem);
  }

  /** Says what has become of the newest state of the source: once, however often it is looked at. */
  #note(problem: Problem | undefined): void {
    const { policySet, source, whileAbsent = WHILE_ABSENT } = this.#options;
    const before = this.#problem;
    this.#problem = problem;
    this.#metrics.policyReloadFailed.set({ source: source.kind }, problem === undefined ? 0 : 1);
    const state = this.#current === undefined ? whileAbsent : `${this.#current.label} stays in force`;
    if (problem !== undefined) {
      if (before?.what === problem.what && before.summary === problem.summary) return;
      this.#log.error({ policy_set: policySet, ...problem.fields }, `${problem.what}; ${state}`);
    } else if (before !== undefined)
      this.#log.info({ policy_set: policySet }, `${this.#current?.label ?? policySet} is the newest again`);
  }
}

function unexpected(what: string, error: unknown): Problem {
  return { what, summary: errorMessage(error), fields: { err: error } };
}
