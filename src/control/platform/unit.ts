import type { Knex } from "knex";
import { transaction } from "../../storage/index.ts";
import type { Actor } from "./actor.ts";
import type { NewEvent, StoredEvent } from "./events.ts";
import type { GatewayChange } from "./gateway-change.ts";
import { newId } from "./ids.ts";
import { namedActor, type NamedActor } from "./named-actor.ts";

/** Who did what to what, with what it was before and is after; never a secret. */
export interface NewChange {
  /** `customer.updated`, `api_key.created`: resource and past tense. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly customerId?: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Recorded, and not yet written. */
type RecordedChange = NewChange & { readonly id: string };

export interface StoredChange extends RecordedChange {
  readonly timestamp: Date;
  readonly actor: NamedActor;
  readonly requestId: string;
  readonly clientIp: string;
}

/** Where a change comes from. */
export interface UnitOrigin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly clientIp: string;
}

/**
 * One transaction: a change, its audit record, its events with their webhook deliveries, and the notifications for
 * gateways are written together or not at all.
 */
export interface UnitOfWork {
  readonly trx: Knex.Transaction;
  /** The time of everything that happens in it. */
  readonly now: Date;
  readonly origin: UnitOrigin;
  /** Keeps a record of a change for the audit trail. */
  record(change: NewChange): void;
  /** Announces an event, to the event history and to webhooks. */
  emit(event: NewEvent): void;
  /** Tells every gateway that follows. */
  notifyGateways(change: GatewayChange): void;
  /**
   * Has `check` run after all writers but that of gateway changes, whose lock keeps every other unit waiting. Where it throws,
   * nothing is committed; what it must be able to rely on at the commit, it locks.
   */
  beforeCommit(check: () => Promise<void>): void;
}

/** Writers of what a unit has gathered; each belongs to the resource that owns the table. */
export interface UnitWriters {
  changes(trx: Knex.Transaction, changes: readonly StoredChange[]): Promise<void>;
  events(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void>;
  deliveries(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void>;
  gateways(trx: Knex.Transaction, changes: readonly GatewayChange[]): Promise<void>;
}

/**
 * Runs `work` as one unit of work. It is run a second time after a conflict with another transaction, so it must do
 * nothing but write.
 */
export type Units = <T>(origin: UnitOrigin, work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;

/**
 * @param clock - Unix ms
 */
export function createUnits(db: Knex, writers: UnitWriters, clock: () => number = Date.now): Units {
  return (origin, work) =>
    transaction(db, async (trx) => {
      const now = new Date(clock());
      const changes: RecordedChange[] = [];
      const events: StoredEvent[] = [];
      const gatewayChanges: GatewayChange[] = [];
      const checks: (() => Promise<void>)[] = [];
      const result = await work({
        trx,
        now,
        origin,
        record(change) {
          changes.push({ ...change, id: newId("change") });
        },
        emit(event) {
          events.push({ ...event, id: newId("event"), timestamp: now });
        },
        notifyGateways(change) {
          gatewayChanges.push(change);
        },
        beforeCommit(check) {
          checks.push(check);
        },
      });
      if (changes.length > 0) {
        const { requestId, clientIp } = origin;
        const by = { timestamp: now, actor: await namedActor(trx, origin.actor), requestId, clientIp };
        await writers.changes(
          trx,
          changes.map((change) => ({ ...change, ...by })),
        );
      }
      if (events.length > 0) {
        await writers.events(trx, events);
        await writers.deliveries(trx, events);
      }
      for (const check of checks) await check();
      // last: its lock is held until the transaction ends
      if (gatewayChanges.length > 0) await writers.gateways(trx, gatewayChanges);
      return result;
    });
}

/** Compares a row that is locked with what the request expects of it (`If-Match`). @throws ApiError */
export type RowCheck<Row> = (before: Row) => void;
