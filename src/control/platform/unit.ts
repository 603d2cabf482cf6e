import type { Knex } from "knex";
import { transaction } from "../../storage/index.ts";
import type { Actor } from "./actor.ts";
import type { NewEvent, StoredEvent } from "./events.ts";
import type { GatewayChange } from "./gateway-change.ts";
import { newId } from "./ids.ts";
import { namedActor, type NamedActor } from "./named-actor.ts";

/** Who did what to what, with its state before and after; never a secret. */
export interface NewChange {
  /** `customer.updated`, `api_key.created`: resource and past tense. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly customerId?: string;
  /** The user whom it concerns, where that is not the target: whose session it is, for example. */
  readonly userId?: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Recorded, but not written yet. */
type RecordedChange = NewChange & { readonly id: string };

export interface StoredChange extends RecordedChange {
  readonly timestamp: Date;
  readonly actor: NamedActor;
  readonly requestId: string;
  readonly clientIp: string;
}

/** The origin of a change. */
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
  /** The time of everything that happens in the unit. */
  readonly now: Date;
  readonly origin: UnitOrigin;
  /** Adds a record of a change to the audit trail. */
  record(change: NewChange): void;
  /** Announces an event, to the event history and to webhooks. */
  emit(event: NewEvent): void;
  /** Notifies every gateway that syncs. */
  notifyGateways(change: GatewayChange): void;
  /**
   * Runs `check` after all writers except that of gateway changes, whose lock makes every other unit wait. If it
   * throws, nothing is committed. It locks whatever must still be true at the commit.
   */
  beforeCommit(check: () => Promise<void>): void;
}

/** Writers of what a unit has collected; each belongs to the resource that owns the table. */
export interface UnitWriters {
  changes(trx: Knex.Transaction, changes: readonly StoredChange[]): Promise<void>;
  events(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void>;
  deliveries(trx: Knex.Transaction, events: readonly StoredEvent[]): Promise<void>;
  gateways(trx: Knex.Transaction, changes: readonly GatewayChange[]): Promise<void>;
}

/**
 * Runs `work` as one unit of work. It runs again after a conflict with another transaction, so it must not do anything
 * but write.
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
      // last, because its lock is held until the transaction ends
      if (gatewayChanges.length > 0) await writers.gateways(trx, gatewayChanges);
      return result;
    });
}

/**
 * Compares a locked row with what the request expects (`If-Match`).
 * @throws ApiError
 */
export type RowCheck<Row> = (before: Row) => void;
