import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Identity } from "../identity/types.ts";
import type { Reason } from "../reasons.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { closingFor, NO_ROOM_FOR_PLAN, SESSION_ENDED, type Closing } from "./connection-closing.ts";
import type { ConnectionCounts } from "./connection-counts.ts";
import { inTime } from "./in-time.ts";
import type { AccessRequest } from "./types.ts";

/** A WebSocket connection whose handshake was allowed. */
export interface LiveConnection {
  readonly decisionId: string;
  readonly access: AccessRequest;
  /** The plan that Envoy has of it. */
  readonly planText: string;
  /** Unix seconds at which Envoy closes it by itself. */
  readonly expiresAt?: number | undefined;
  /** For {@link ConnectionRegistry.revoke}. */
  readonly identity?: Identity | undefined;
  /** Names the handshake: Envoy may ask about one twice, and carries out one of the answers. */
  readonly handshake?: string | undefined;
  /** Who counts as its holder. */
  readonly holder?: string | undefined;
  /** It is decided in the same way until a call of {@link ConnectionRegistry.rejudge} concerns it. */
  readonly steady?: boolean;
}

/** What a judge says about a connection's handshake, looked at again. */
export type Rejudgement =
  | {
      readonly verdict: "ALLOW";
      /** May be made when it is read, which is once: plans may be long. */
      readonly planText: string;
      /** As {@link LiveConnection.steady}. */
      readonly steady?: boolean;
    }
  | { readonly verdict: "DENY"; readonly reason: Reason };

/** What Envoy has to know of open connections, by decision id; those that go on as they are, are not in it. */
export interface ConnectionStandings {
  readonly closed: Readonly<Record<string, Closing>>;
  /** Plans in place of those that Envoy had first. */
  readonly plans: Readonly<Record<string, string>>;
}

export interface ConnectionRegistryOptions {
  readonly judge: (access: AccessRequest) => Rejudgement | Promise<Rejudgement>;
  /** Called when {@link ConnectionRegistry.standings} has changed. */
  readonly changed: () => void;
  readonly metrics: Pick<Metrics, "connections">;
  readonly log: { info(object: object, message: string): void; error(object: object, message: string): void };
  /** Connections; 10,000. */
  readonly capacity?: number;
  /** Of one holder. */
  readonly perHolder?: { readonly limit: number; readonly counts: ConnectionCounts };
  /**
   * How often those that are not steady are evaluated again, besides; ms. Absent: only when
   * {@link ConnectionRegistry.rejudge} is called.
   */
  readonly every?: number;
  /** Values that all decisions depend on: when one of them is another one by then, all are evaluated again. */
  readonly circumstances?: () => readonly unknown[];
  /** Characters of all new plans together, which Envoy reads every second; 2 Mi. */
  readonly planSpace?: number;
  /** How long one judgement may take; ms. */
  readonly judgeWithin?: number;
  /** Unix ms. */
  readonly clock?: () => number;
  /** Milliseconds that never go back. */
  readonly stopwatch?: () => number;
}

interface Entry {
  /** Of the decisions that permitted it, the first one included: which of them Envoy carries out is not known. */
  readonly ids: string[];
  readonly connection: Omit<LiveConnection, "planText">;
  /** Hash of the plan in force: plans may be long, and most never change. */
  planHash: string;
  steady: boolean;
  /** In place of the first one. */
  newPlan?: string;
  closing?: Closing;
  /** The round it was last judged in. */
  round: number;
}

/** What a round came to. */
interface Findings {
  closed: number;
  replanned: number;
  failed: number;
}

/** Judging that takes longer than this lets other work have its turn; ms. */
const TURN_MS = 5;
/** Judged at a time, of those that have to wait for something. */
const MOST_WAITING = 50;
const SWEEP_MS = 10_000;
/** After its end an entry is kept for so long, for a clock that is a little behind. */
const KEEP_MS = 60_000;
/** A request for a WebSocket has no body; what somebody sends all the same is not kept for hours. */
const MAX_BODY = 16_384;

const LATE: Rejudgement = { verdict: "DENY", reason: "DEADLINE_EXCEEDED" };

/** Decisions about one handshake: Envoy asks three times at most. */
const MOST_DECISIONS = 8;

/**
 * WebSocket connections live long after their handshake was allowed: here they are remembered, and judged again when
 * something has changed. What no longer is permitted is closed for good; what is permitted in another way gets a new plan.
 */
export class ConnectionRegistry {
  readonly #options: ConnectionRegistryOptions;
  readonly #capacity: number;
  readonly #planSpace: number;
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  /** By the id of the first decision. */
  readonly #entries = new Map<string, Entry>();
  /** By the ids of further ones. */
  readonly #again = new Map<string, Entry>();
  readonly #handshakes = new Map<string, Entry>();
  #planCharacters = 0;
  #round = 0;
  /** Unix ms: who asked before this may have been judged by what was in force before. */
  #changedAt = 0;
  #circumstances: readonly unknown[] = [];
  #pending = false;
  #working: Promise<void> | undefined;
  /** By the stopwatch: when other work had its turn last. */
  #turnBegan = 0;
  #lastInTurn: Promise<void> = Promise.resolve();
  #timers: NodeJS.Timeout[] = [];

  constructor(options: ConnectionRegistryOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? 10_000;
    this.#planSpace = options.planSpace ?? 2 * 1024 * 1024;
    this.#clock = options.clock ?? Date.now;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Begins to forget what has expired and, where asked for, to judge again by itself. */
  start(): void {
    const { every } = this.#options;
    this.#timers = [
      setInterval(() => {
        this.sweep();
      }, SWEEP_MS).unref(),
    ];
    if (every !== undefined) this.#timers.push(setInterval(() => void this.refresh(), every).unref());
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** @returns false where it cannot be looked after: then it must not be let in. */
  add({ planText, steady = false, ...connection }: LiveConnection): boolean {
    const { decisionId, access, handshake = decisionId, holder } = connection;
    if (this.#entries.has(decisionId) || this.#again.has(decisionId)) return false;
    const known = this.#handshakes.get(handshake);
    if (known !== undefined) return this.#addAgain(known, decisionId, planText);
    if (this.#entries.size >= this.#capacity) return false;
    if ((access.raw.body?.bytes.length ?? 0) > MAX_BODY) return false;
    // the judgement that let it in may have begun before the last change
    const late = access.receivedAt <= this.#changedAt;
    const round = late ? this.#round - 1 : this.#round;
    const entry = { ids: [decisionId], connection, planHash: hashOf(planText), steady, round };
    this.#entries.set(decisionId, entry);
    this.#handshakes.set(handshake, entry);
    if (holder !== undefined) this.#options.perHolder?.counts.add(holder, 1);
    this.#count();
    if (late) void this.#work();
    return true;
  }

  /** Whether its holder may have one more; a handshake that is known is none. */
  isWithinLimit({ handshake, holder }: Pick<LiveConnection, "handshake" | "holder">): boolean {
    const { perHolder } = this.#options;
    if (perHolder === undefined || holder === undefined) return true;
    if (handshake !== undefined && this.#handshakes.has(handshake)) return true;
    return perHolder.counts.of(holder) < perHolder.limit;
  }

  /** The decision is not carried out after all; another one about the same handshake may be. */
  withdraw(decisionId: string): void {
    const entry = this.#find(decisionId);
    if (entry === undefined) return;
    if (entry.ids.length === 1) {
      this.ended([decisionId]);
      return;
    }
    entry.ids.splice(entry.ids.indexOf(decisionId), 1);
    this.#again.delete(decisionId);
  }

  /** These connections are over; ids that are not known here belong to another process. */
  ended(decisionIds: readonly string[]): void {
    let listed = false;
    for (const id of decisionIds) {
      const entry = this.#find(id);
      if (entry === undefined) continue;
      listed ||= isListed(entry);
      this.#forget(entry);
    }
    this.#count();
    if (listed) this.#options.changed();
  }

  /** All connections are over: Envoy itself was. */
  endedAll(): void {
    this.ended([...this.#entries.keys()]);
  }

  /** Forgets those that Envoy has closed by itself for a while: the message that they ended may have been lost. */
  sweep(): void {
    const now = this.#clock();
    const over = [...this.#entries.values()].filter(
      ({ connection: { expiresAt } }) => expiresAt !== undefined && expiresAt * 1000 + KEEP_MS < now,
    );
    this.ended(over.map(({ connection }) => connection.decisionId));
  }

  /**
   * Closes the connections for which `predicate` holds. Those whose handshake is being judged at the moment are not here
   * yet: they are judged again when they come.
   *
   * @returns how many
   */
  revoke(
    predicate: (connection: Omit<LiveConnection, "planText">) => boolean,
    closing: Closing = SESSION_ENDED,
  ): number {
    this.#changedAt = this.#clock();
    let count = 0;
    for (const entry of this.#entries.values()) {
      if (entry.closing !== undefined || !predicate(entry.connection)) continue;
      this.#close(entry, closing);
      count += 1;
    }
    return count;
  }

  /**
   * Judges open connections again, a few at a time. Resolves when that is done, and never rejects. A call while this
   * is under way begins anew: who was judged already may have been by what was in force before.
   *
   * @param concerns - which of the steady ones may be decided in another way now; absent: all
   */
  rejudge(concerns?: (connection: Omit<LiveConnection, "planText">) => boolean): Promise<void> {
    this.#changedAt = this.#clock();
    if (concerns === undefined) this.#round += 1;
    else {
      for (const entry of this.#entries.values())
        if (!this.#isSteady(entry) || concerns(entry.connection)) entry.round = this.#round - 1;
    }
    return this.#work();
  }

  /** Evaluates what may be decided in another way although nobody has said so: time passes, and sources change. */
  refresh(): Promise<void> {
    const before = this.#circumstances;
    const now = this.#options.circumstances?.() ?? [];
    this.#circumstances = now;
    const changed = now.length !== before.length || now.some((value, at) => !Object.is(value, before[at]));
    return this.rejudge(changed ? undefined : () => false);
  }

  /** What has expired and is still here, Envoy was to close. */
  #isSteady({ steady, connection: { expiresAt } }: Entry): boolean {
    return steady && (expiresAt === undefined || this.#clock() < expiresAt * 1000);
  }

  standings(): ConnectionStandings {
    const closed: [string, Closing][] = [];
    const plans: [string, string][] = [];
    for (const { ids, closing, newPlan } of this.#entries.values())
      for (const id of ids) {
        if (closing !== undefined) closed.push([id, closing]);
        else if (newPlan !== undefined) plans.push([id, newPlan]);
      }
    return { closed: Object.fromEntries(closed), plans: Object.fromEntries(plans) };
  }

  #work(): Promise<void> {
    this.#pending = true;
    return (this.#working ??= this.#judgeAll());
  }

  async #judgeAll(): Promise<void> {
    // also so that whoever called has the promise before this ends
    await this.#nextTurn();
    const found: Findings = { closed: 0, replanned: 0, failed: 0 };
    while (this.#isPending()) {
      this.#pending = false;
      let waiting: Promise<void>[] = [];
      // a Map's iterator also comes to what is added meanwhile
      for (const entry of this.#entries.values()) {
        if (entry.round === this.#round || entry.closing !== undefined) continue;
        entry.round = this.#round;
        const judging = this.#judge(entry, found);
        if (judging !== undefined) waiting.push(judging);
        if (waiting.length >= MOST_WAITING) {
          await Promise.all(waiting);
          waiting = [];
        }
        if (this.#turnIsOver()) await this.#nextTurn();
      }
      await Promise.all(waiting);
    }
    this.#working = undefined;
    if (found.closed + found.replanned > 0)
      this.#options.log.info(found, "open connections were judged again");
  }

  #turnIsOver(): boolean {
    return this.#stopwatch() - this.#turnBegan >= TURN_MS;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    this.#turnBegan = this.#stopwatch();
  }

  /** Answers that come at the same time take their turns one after the other. */
  #inTurn(work: () => void): Promise<void> {
    const before = this.#lastInTurn;
    const done = before.then(async () => {
      if (this.#turnIsOver()) await this.#nextTurn();
      work();
    });
    this.#lastInTurn = done;
    return done;
  }

  /** A method, because it may have changed while something was awaited. */
  #isPending(): boolean {
    return this.#pending;
  }

  /** @returns nothing where nothing had to be waited for; never rejects */
  #judge(entry: Entry, found: Findings): Promise<void> | undefined {
    const { access } = entry.connection;
    const { judge, judgeWithin = 5_000 } = this.#options;
    const now = this.#clock();
    const failed = (error: unknown) => {
      this.#failed(entry, error, found);
    };
    const apply = (judged: Rejudgement) => {
      try {
        this.#apply(entry, judged, found);
      } catch (error) {
        failed(error);
      }
    };
    try {
      const answer = judge({ ...access, receivedAt: now, deadline: now + judgeWithin });
      if (answer instanceof Promise) {
        return inTime(answer, judgeWithin, LATE).then(
          (judged) =>
            this.#inTurn(() => {
              apply(judged);
            }),
          failed,
        );
      }
      apply(answer);
    } catch (error) {
      failed(error);
    }
    return undefined;
  }

  #failed(entry: Entry, error: unknown, found: Findings): void {
    // one is told of: the next ten thousand will fail in the same way
    found.failed += 1;
    if (found.failed === 1)
      this.#options.log.error(
        { err: error, decision_id: entry.connection.decisionId },
        "an open connection could not be judged again",
      );
    this.#apply(entry, { verdict: "DENY", reason: "INTERNAL_ERROR" }, found);
  }

  #apply(entry: Entry, judged: Rejudgement, found: Findings): void {
    // it may have ended, or been revoked, meanwhile
    if (this.#entries.get(entry.connection.decisionId) !== entry || entry.closing !== undefined) return;
    const change =
      judged.verdict === "DENY"
        ? this.#close(entry, closingFor(judged.reason))
        : this.#replan(entry, judged.planText);
    entry.steady = judged.verdict === "ALLOW" && judged.steady === true;
    if (change !== undefined) found[change] += 1;
  }

  #close(entry: Entry, closing: Closing): "closed" {
    this.#planCharacters -= entry.newPlan?.length ?? 0;
    delete entry.newPlan;
    entry.closing = closing;
    this.#options.changed();
    return "closed";
  }

  #replan(entry: Entry, planText: string): "replanned" | "closed" | undefined {
    const planHash = hashOf(planText);
    if (planHash === entry.planHash) return undefined;
    const characters = this.#planCharacters - (entry.newPlan?.length ?? 0) + planText.length;
    if (characters > this.#planSpace) return this.#close(entry, NO_ROOM_FOR_PLAN);
    this.#planCharacters = characters;
    entry.planHash = planHash;
    entry.newPlan = planText;
    this.#options.changed();
    return "replanned";
  }

  #find(decisionId: string): Entry | undefined {
    return this.#entries.get(decisionId) ?? this.#again.get(decisionId);
  }

  #addAgain(entry: Entry, decisionId: string, planText: string): boolean {
    if (entry.ids.length >= MOST_DECISIONS) return false;
    entry.ids.push(decisionId);
    this.#again.set(decisionId, entry);
    if (isListed(entry)) this.#options.changed();
    if (entry.planHash !== hashOf(planText)) {
      // one of the two plans is not what is in force: whichever Envoy has is replaced
      entry.planHash = "";
      entry.round = this.#round - 1;
      void this.#work();
    }
    return true;
  }

  #forget(entry: Entry): void {
    const { decisionId, handshake = decisionId, holder } = entry.connection;
    this.#entries.delete(decisionId);
    for (const id of entry.ids) this.#again.delete(id);
    this.#handshakes.delete(handshake);
    if (holder !== undefined) this.#options.perHolder?.counts.add(holder, -1);
    this.#planCharacters -= entry.newPlan?.length ?? 0;
  }

  #count(): void {
    this.#options.metrics.connections.set(this.#entries.size);
  }
}

function isListed({ closing, newPlan }: Entry): boolean {
  return closing !== undefined || newPlan !== undefined;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
