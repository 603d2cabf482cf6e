import { every, type Job } from "../../runtime/every.ts";
import { NO_ROOM_FOR_PLAN, SESSION_ENDED, type Closing } from "./connection-closing.ts";
import {
  directivesFor,
  endOf,
  hashOf,
  identifyEntry,
  isListed,
  planTextOf,
  type ConnectionEntry,
} from "./connection-entry.ts";
import { ConnectionSlots, type ConnectionSlot, type SlotTable } from "./connection-slots.ts";
import { ConnectionHolders } from "./connection-holders.ts";
import { bytesOf } from "./connection-space.ts";
import type {
  ConnectionRegistryOptions,
  ConnectionDirectives,
  Identified,
  LiveConnection,
  Reevaluation,
} from "./connection-types.ts";
import { EvaluationRounds, type ConnectionChange } from "./evaluation-rounds.ts";
import { RecentIds } from "./recent-ids.ts";

export type * from "./connection-types.ts";

const SWEEP_MS = 5_000;
/** Envoy reports every ten seconds (src/gateway/listener.ts); up to three reports may be lost. */
const UNREPORTED_MS = 40_000;
/** How long an entry is kept after its expiry, in case a clock is slightly behind. */
const KEEP_MS = 60_000;
/** A WebSocket handshake has no body; one that is sent anyway is not kept for hours. */
const MAX_BODY = 16_384;

/** Maximum number of remembered requests that ended in Envoy without an answer; far more than can be waiting for a decision. */
const MOST_ABANDONED = 32_768;
/** Maximum number of decisions per handshake: Envoy asks at most three times. */
const MOST_DECISIONS = 8;

/**
 * WebSocket connections live long after their handshake was allowed. The registry remembers them and evaluates them
 * again when something has changed. A connection that is no longer permitted is closed; one that is permitted under
 * different conditions gets a new plan.
 */
export class ConnectionRegistry {
  readonly #options: ConnectionRegistryOptions;
  readonly #capacity: number;
  readonly #planSpace: number;
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  /** Keyed by the id of the first decision. */
  readonly #entries = new Map<string, ConnectionEntry>();
  /** Keyed by the ids of further decisions. */
  readonly #again = new Map<string, ConnectionEntry>();
  readonly #handshakes = new Map<string, ConnectionEntry>();
  /** Keyed by request id. */
  readonly #requests = new Map<string, ConnectionEntry>();
  /** Request ids whose clients disconnected. */
  readonly #abandoned = new RecentIds(MOST_ABANDONED);
  readonly #slots = new ConnectionSlots();
  readonly #holders: ConnectionHolders;
  /** Stopwatch time. */
  #sweptAt: number;
  #planCharacters = 0;
  readonly #rounds: EvaluationRounds;
  #jobs: Job[] = [];

  constructor(options: ConnectionRegistryOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? 10_000;
    this.#holders = new ConnectionHolders(this.#capacity, options.perHolder);
    this.#planSpace = options.planSpace ?? 2 * 1024 * 1024;
    this.#clock = options.clock ?? Date.now;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
    this.#sweptAt = this.#stopwatch();
    this.#rounds = new EvaluationRounds({
      ...options,
      clock: this.#clock,
      stopwatch: this.#stopwatch,
      entries: () => this.#entries.values(),
      apply: (entry, evaluated) => this.#apply(entry, evaluated),
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Starts removing expired connections and, if configured, periodic reevaluation. */
  start(): void {
    const { every: refreshMs, log } = this.#options;
    const what = "forget closed connections";
    this.#jobs = [every(SWEEP_MS, this.sweep.bind(this), { what, log })];
    if (refreshMs !== undefined)
      this.#jobs.push(
        every(refreshMs, () => this.refresh(), { what: "evaluate open connections again", log }),
      );
  }

  close(): void {
    for (const job of this.#jobs) void job.close();
  }

  /** @returns false if it cannot be registered: it must then be denied */
  add({ planText, steady = false, reported = false, ...connection }: LiveConnection): boolean {
    const { decisionId, access, handshake = decisionId, holder } = connection;
    if (this.#entries.has(decisionId) || this.#again.has(decisionId)) return false;
    const known = this.#handshakes.get(handshake);
    if (known !== undefined) return this.#addAgain(known, decisionId, planText);
    if (this.#entries.size >= this.#capacity) return false;
    if ((access.raw.body?.bytes.length ?? 0) > MAX_BODY) return false;
    const bytes = bytesOf(access);
    if (!this.#holders.hasRoomFor(bytes)) return false;
    // it may have been decided before the last change
    const { current: round } = this.#rounds;
    const entry: ConnectionEntry = {
      ...{ ids: [decisionId], connection, planHash: hashOf(planText), steady, round, bytes },
      slot: this.#slots.take(),
      reportedAt: reported ? this.#stopwatch() : undefined,
    };
    this.#entries.set(decisionId, entry);
    this.#handshakes.set(handshake, entry);
    this.#requests.set(access.requestId, entry);
    this.#holders.count(holder, 1, bytes);
    this.#count();
    // the evaluation that let it in may have begun before the last change
    if (access.receivedAt <= this.#rounds.changedAt) void this.#rounds.repeat(entry);
    return true;
  }

  /** Whether its holder may open one more, by number and by bytes. A known handshake does not count as a new one. */
  isWithinLimit({
    handshake,
    holder,
    access,
  }: Pick<LiveConnection, "handshake" | "holder"> & Partial<Pick<LiveConnection, "access">>): boolean {
    if (handshake !== undefined && this.#handshakes.has(handshake)) return true;
    return this.#holders.isWithinLimit(holder, access);
  }

  /** The slot by which Envoy's Lua finds the connection; undefined if it is not registered. */
  slotOf(decisionId: string): ConnectionSlot | undefined {
    return this.#find(decisionId)?.slot;
  }

  /** @returns a connection whose first message has come; only once, and only while it is permitted as it is */
  begin(decisionId: string): Pick<LiveConnection, "access" | "holder" | "held"> | undefined {
    const entry = this.#find(decisionId);
    if (entry === undefined || isListed(entry) || entry.hasBegun === true) return undefined;
    entry.hasBegun = true;
    return entry.connection;
  }

  /**
   * The client of a connection has said who it is: from now on, the connection is this one.
   *
   * @returns why it cannot be: it has ended or must, or its handshake takes too much memory with the token
   */
  identify(
    decisionId: string,
    identified: Identified,
  ): "CONNECTION_ENDED" | "TOO_MANY_CONNECTIONS" | undefined {
    const entry = this.#find(decisionId);
    // Envoy has been told about the end, or about another plan
    if (entry === undefined || isListed(entry)) return "CONNECTION_ENDED";
    if (!this.#holders.hasRoomFor(bytesOf(identified.access) - entry.bytes)) return "TOO_MANY_CONNECTIONS";
    this.#holders.count(entry.connection.holder, -1, entry.bytes);
    identifyEntry(entry, identified);
    this.#holders.count(identified.holder, 1, entry.bytes);
    // the decision may have used what was in force before the last change
    if (identified.access.receivedAt <= this.#rounds.changedAt) void this.#rounds.repeat(entry);
    return undefined;
  }

  /** Closes a connection whose client may not use it. */
  refuse(decisionId: string, closing: Closing): void {
    const entry = this.#find(decisionId);
    if (entry !== undefined && entry.closing === undefined) this.#close(entry, closing);
  }

  /** Call if the decision is not carried out after all. Another decision on the same handshake may be. */
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

  /** Removes these connections, which have ended. Unknown ids belong to another process. */
  ended(decisionIds: readonly string[]): void {
    this.#forgetAll(decisionIds.map((id) => this.#find(id)));
  }

  /** The clients of these requests disconnected before Envoy had an answer. Unknown ids belong to other processes. */
  abandoned(requestIds: readonly string[]): void {
    for (const id of requestIds) if (id !== "") this.#abandoned.add(id);
    this.#forgetAll(requestIds.map((id) => this.#requests.get(id)));
  }

  /**
   * Whether the client of a request disconnected before Envoy had an answer. Envoy may report this before the decision,
   * if the decision had to wait.
   */
  hasLeft(requestId: string): boolean {
    return this.#abandoned.has(requestId);
  }

  /** Envoy reports that these connections are open. Unknown ids belong to another process. */
  reported(decisionIds: readonly string[]): void {
    const now = this.#stopwatch();
    for (const id of decisionIds) {
      const entry = this.#find(id);
      if (entry?.reportedAt !== undefined) entry.reportedAt = now;
    }
  }

  #forgetAll(entries: readonly (ConnectionEntry | undefined)[]): void {
    let listed = false;
    for (const entry of entries) {
      // an id that is listed twice is forgotten once
      if (entry === undefined || this.#entries.get(entry.connection.decisionId) !== entry) continue;
      listed ||= isListed(entry);
      this.#forget(entry);
    }
    this.#count();
    if (listed) this.#options.changed();
  }

  /** All connections have ended, because Envoy has stopped. */
  endedAll(): void {
    this.ended([...this.#entries.keys()]);
  }

  /**
   * Forgets connections that Envoy has closed by itself, and those that it no longer reports because the message about
   * their end was lost. If one is still open after all, Lua closes it (ConnectionSlots).
   */
  sweep(): void {
    const now = this.#clock();
    const over = [...this.#entries.values()].filter(
      ({ connection: { expiresAt } }) => expiresAt !== undefined && expiresAt * 1000 + KEEP_MS < now,
    );
    this.#forgetAll(over);
    this.#forgetUnreported();
  }

  #forgetUnreported(): void {
    const now = this.#stopwatch();
    // a process that was paused has reports queued: read them first
    const late = now - this.#sweptAt > UNREPORTED_MS / 2;
    this.#sweptAt = now;
    if (late) return;
    const over = [...this.#entries.values()].filter(
      ({ reportedAt }) => reportedAt !== undefined && now - reportedAt > UNREPORTED_MS,
    );
    if (over.length === 0) return;
    this.#forgetAll(over);
    this.#options.metrics.connectionsUnreported.inc(over.length);
    this.#options.log.info({ count: over.length }, "forgot connections that the proxy no longer reports");
  }

  /**
   * Closes the connections for which `predicate` is true. Connections whose handshake is still being decided are not
   * registered yet; they are evaluated again when they are added.
   *
   * @returns how many
   */
  revoke(
    predicate: (connection: Omit<LiveConnection, "planText">) => boolean,
    closing: Closing = SESSION_ENDED,
  ): number {
    this.#rounds.noteChange();
    let count = 0;
    for (const entry of this.#entries.values()) {
      if (entry.closing !== undefined || !predicate(entry.connection)) continue;
      this.#close(entry, closing);
      count += 1;
    }
    return count;
  }

  /**
   * Evaluates open connections again, a few at a time. Resolves when done; never rejects. A call during a round starts
   * over, because connections evaluated so far may have used the earlier policies or state.
   *
   * @param concerns - selects the steady connections whose decision may have changed; absent: all
   */
  reevaluate(concerns?: (connection: Omit<LiveConnection, "planText">) => boolean): Promise<void> {
    return this.#rounds.reevaluate(concerns);
  }

  /**
   * Evaluates connections whose decision may change without any announcement: time passes, and attribute sources
   * change.
   */
  refresh(): Promise<void> {
    return this.#rounds.refresh();
  }

  directives(): ConnectionDirectives {
    return directivesFor(this.#entries.values());
  }

  /** The known connections, for Envoy's Lua. */
  slots(): SlotTable {
    return this.#slots.table();
  }

  #apply(entry: ConnectionEntry, evaluated: Reevaluation): ConnectionChange | undefined {
    // it may have ended or been revoked in the meantime
    if (this.#entries.get(entry.connection.decisionId) !== entry || entry.closing !== undefined)
      return undefined;
    const end = endOf(entry, evaluated);
    const change = "plan" in end ? this.#replan(entry, end.plan(), evaluated.set) : this.#close(entry, end);
    entry.steady = evaluated.verdict === "ALLOW" && evaluated.steady === true;
    return change;
  }

  #close(entry: ConnectionEntry, closing: Closing): "closed" {
    this.#planCharacters -= entry.newPlan?.length ?? 0;
    delete entry.newPlan;
    entry.closing = closing;
    this.#options.changed();
    return "closed";
  }

  #replan(entry: ConnectionEntry, planText: string, set: string | undefined): ConnectionChange | undefined {
    const planHash = hashOf(planText);
    if (planHash === entry.planHash) return undefined;
    const newPlan = planTextOf(planText, set);
    const characters = this.#planCharacters - (entry.newPlan?.length ?? 0) + newPlan.length;
    if (characters > this.#planSpace)
      return this.#close(entry, { ...NO_ROOM_FOR_PLAN, ...(set !== undefined && { set }) });
    this.#planCharacters = characters;
    entry.planHash = planHash;
    entry.newPlan = newPlan;
    this.#options.changed();
    return "replanned";
  }

  #find(decisionId: string): ConnectionEntry | undefined {
    return this.#entries.get(decisionId) ?? this.#again.get(decisionId);
  }

  #addAgain(entry: ConnectionEntry, decisionId: string, planText: string): boolean {
    if (entry.ids.length >= MOST_DECISIONS) return false;
    entry.ids.push(decisionId);
    this.#again.set(decisionId, entry);
    if (isListed(entry)) this.#options.changed();
    if (entry.planHash !== hashOf(planText)) {
      // at least one of the two plans is outdated: replace whichever Envoy has
      entry.planHash = "";
      void this.#rounds.repeat(entry);
    }
    return true;
  }

  #forget(entry: ConnectionEntry): void {
    const { decisionId, handshake = decisionId, holder, access } = entry.connection;
    this.#entries.delete(decisionId);
    for (const id of entry.ids) this.#again.delete(id);
    this.#handshakes.delete(handshake);
    if (this.#requests.get(access.requestId) === entry) this.#requests.delete(access.requestId);
    this.#slots.free(entry.slot);
    this.#holders.count(holder, -1, entry.bytes);
    this.#planCharacters -= entry.newPlan?.length ?? 0;
  }

  #count(): void {
    this.#options.metrics.connections.set(this.#entries.size);
  }
}
