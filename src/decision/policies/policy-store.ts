import { renderDiagnostics, rulesOf, summarizeErrors } from "../../policy/evaluation.ts";
import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { compileInThread, type Compilation } from "./compile-thread.ts";
import { findNotProvided, type Provisions } from "./not-provided.ts";
import type { PolicySource, SourcedSet } from "./policy-source.ts";
import { ruleReference } from "./rule-reference.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";
import { errorMessage } from "../../text/index.ts";

/** Where the set comes from and how often it is checked. */
export interface PolicyStoreOptions {
  readonly source: PolicySource;
  readonly policySet: string;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
  /** The consequence if no version is in force, for logs. Default: that of the gateway's own set. */
  readonly whileAbsent?: string;
  /** What a version is after it was loaded, for logs. Default: that of the gateway's own set. */
  readonly whenLoaded?: string;
  /** What the configuration provides. Reads of anything else are logged. */
  readonly provisions?: Provisions;
  /** Default: in a thread of its own. */
  readonly compile?: typeof compileInThread;
}

/** Why the newest version is not in force. */
interface Problem {
  readonly what: string;
  /** On one line. */
  readonly summary: string;
  /** For logs. */
  readonly fields: object;
  /** The source's version is unknown: it may be the one in force. */
  readonly isUnread?: true;
}

const WHILE_ABSENT = "no policy set is in force, so every request is denied";

interface Log {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}

/** A limit, because thousands of rules of a set may read the same attribute. */
const MAX_WARNINGS = 100;

type PolicyMetrics = Pick<
  Metrics,
  "cacheHits" | "cacheMisses" | "policyReloads" | "policyReloadTime" | "policyReloadFailed" | "policySetInfo"
>;

/**
 * The policy set in force. A change is compiled separately and put in force by one assignment. If the new version has
 * an error, the last good one stays in force.
 */
export class PolicyStore {
  readonly #options: PolicyStoreOptions;
  readonly #metrics: PolicyMetrics;
  readonly #log: Log;
  readonly #listeners: ((snapshot: Snapshot) => void | Promise<void>)[] = [];
  readonly #followers: (() => void)[] = [];
  #current: Snapshot | undefined;
  #seen = "";
  /** The fingerprint of the last version seen. */
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

  /** The set in force; `undefined` until a valid one was loaded. */
  get current(): Snapshot | undefined {
    return this.#current;
  }

  /** The health of the set in force and of its newest version. */
  status(): CheckStatus {
    const problem = this.#problem;
    const current = this.#current;
    if (current === undefined) {
      const why = problem?.summary ?? `\`${this.#options.policySet}\` has not been read yet`;
      return { ok: false, detail: `no policy set is in force: ${why}` };
    }
    const inForce = `${current.label} is in force`;
    if (problem === undefined) return { ok: true, detail: inForce };
    const what = problem.isUnread
      ? "it is not known whether it is the newest version"
      : "its newest version is not in force";
    return { ok: true, detail: `${inForce}; ${what}: ${problem.summary}` };
  }

  /** Whether the source's current version could not be put in force. */
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

  /** Loads the set for the first time and then watches it. Never rejects; check {@link current}. */
  async start(): Promise<void> {
    const { source, policySet, refreshIntervalMs } = this.#options;
    // before the first check, so that no change is missed in between
    this.#stopWatching = source.watch(policySet, () => void this.refresh());
    const what = `check the policy set \`${policySet}\``;
    this.#looking = every(refreshIntervalMs, () => this.refresh(), { what, log: this.#log });
    await this.refresh();
  }

  /** Checks the source now. Calls during a check share the next one. */
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

  /** Stops watching. The set in force can still be read. */
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
      this.#failed({ ...unexpected("cannot read the policy set", error), isUnread: true });
    }
    if (this.#mustLookAgain()) await this.#refreshUntilQuiet();
  }

  /** Another check was requested during the current one, whose result may be out of date. */
  #mustLookAgain(): boolean {
    return this.#again && !this.#closed;
  }

  async #load(set: SourcedSet): Promise<void> {
    const { policySet, caseSensitive, compile = compileInThread } = this.#options;
    if (set.fingerprint === this.#seen && this.#seen !== "") {
      this.#metrics.cacheHits.inc({ cache: "policy_sets" });
      this.#metrics.policyReloads.inc({ result: "unchanged" });
      // in between, the source may have failed, or workers may not have loaded another version
      this.#note(this.#seenProblem);
      return;
    }
    this.#metrics.cacheMisses.inc({ cache: "policy_sets" });
    const { ir, diagnostics }: Compilation =
      set.diagnostics.length > 0 ? set : await compile(set.files, policySet);
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
      // if a listener throws, the next check tries again: the version counts as seen only when it is in force
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
      this.#options.whenLoaded ?? "policy set in force",
    );
    this.#warnOfNotProvided(snapshot);
  }

  /** Logs rules that read what this gateway cannot provide: their author would not notice that they deny everybody. */
  #warnOfNotProvided({ ir, label }: Snapshot): void {
    const { provisions } = this.#options;
    if (provisions === undefined) return;
    const found = findNotProvided(ir, provisions);
    for (const { rule, at, message, hint, configure } of found.slice(0, MAX_WARNINGS)) {
      const { id, name } = ruleReference(rule);
      const place = { rule: id, ...(name !== undefined && { rule_name: name }), at: `${at.file}:${at.line}` };
      this.#log.warn(
        { policy_set: label, ...place, configure, hint },
        `a rule reads what is never provided: ${message}`,
      );
    }
    if (found.length <= MAX_WARNINGS) return;
    this.#log.warn(
      { policy_set: label, more: found.length - MAX_WARNINGS },
      "more rules read what is not configured; run `gatehouse policy validate --config` to list them",
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

  /** Logs the result for the source's newest version, once, however often it is checked. */
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
      this.#log.info(
        { policy_set: policySet },
        `${this.#current?.label ?? policySet} is the newest version again`,
      );
  }
}

function unexpected(what: string, error: unknown): Problem {
  return { what, summary: errorMessage(error), fields: { err: error } };
}
