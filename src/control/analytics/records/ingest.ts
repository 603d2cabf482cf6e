import type { RecordRejection } from "../../../protocol/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import type { NewEvent } from "../../platform/events.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { countDecisions, type CountedDecision } from "../rollups/count-decisions.ts";
import { insertInputs } from "./insert-inputs.ts";
import { insertRecords, type Provenance } from "./insert-records.ts";
import { inputsKeptMs, keptSince, makePartition, startOfDay } from "./partitions.ts";
import { readRecord, type RecordFacts } from "./read-record.ts";
import { MOST_AHEAD_MS, outOfBounds, timeBounds } from "./time-bounds.ts";
import { violationEvent } from "./violation-event.ts";
import { withKnownUsers } from "./known-users.ts";
import { withOwners } from "./owners.ts";

/** A batch, read record by record. */
export interface ReadBatch {
  /** When it was received, by the database's clock. */
  readonly receivedAt: Date;
  readonly records: readonly RecordFacts[];
  readonly rejected: readonly Rejected[];
}
interface Rejected {
  readonly index: number;
  readonly code: RecordRejection;
  readonly message: string;
}

export interface IngestResult {
  /** Stored by this call. */
  readonly accepted: number;
  /** Stored before, or duplicated in the batch. */
  readonly duplicates: number;
}

/** Ingests the records of gateways. */
export class Intake {
  readonly #context: ControlContext;
  /** Start of the days whose partition is known to exist. */
  readonly #days = new Set<number>();

  constructor(context: ControlContext) {
    this.#context = context;
  }

  /** Reads a batch and creates the partitions that it needs, outside the transaction because that locks tables. */
  async prepare(values: readonly unknown[]): Promise<ReadBatch> {
    const receivedAt = await this.#context.databaseNow(this.#context.db);
    const now = receivedAt.getTime();
    const bounds = timeBounds(now, this.#context.settings.retention);
    const records: RecordFacts[] = [];
    const rejected: Rejected[] = [];
    for (const [index, value] of values.entries()) {
      const read = readRecord(value);
      if (typeof read === "string") {
        rejected.push({ index, code: "INVALID_RECORD", message: read });
        continue;
      }
      const code = outOfBounds(read.row.timestamp, bounds);
      if (code === undefined) records.push(read);
      else {
        const message = code === "CLOCK_AHEAD" ? tooFarAhead(now) : tooOld(bounds.since, now);
        rejected.push({ index, code, message });
      }
    }
    for (const day of new Set(records.map(({ row }) => startOfDay(row.timestamp)))) {
      if (this.#days.has(day)) continue;
      if (await makePartition(this.#context.db, "audit_records", day)) this.#days.add(day);
    }
    return { receivedAt, records, rejected };
  }

  /** Stores and counts new records, and announces policy violations; all of it or nothing. */
  async take(
    unit: UnitOfWork,
    { receivedAt, records }: ReadBatch,
    from: Omit<Provenance, "receivedAt">,
  ): Promise<IngestResult> {
    if (records.length === 0) return { accepted: 0, duplicates: 0 };
    const known = await withKnownUsers(unit.trx, await withOwners(unit.trx, records));
    const stored = await insertRecords(unit.trx, known, { ...from, receivedAt });
    await insertInputs(
      unit.trx,
      stored,
      keptSince(receivedAt.getTime(), inputsKeptMs(this.#context.settings.retention)),
    );
    await countDecisions(unit.trx, stored.flatMap(counted));
    for (const event of stored.map(violationEvent).filter(isEvent)) unit.emit(event);
    return { accepted: stored.length, duplicates: records.length - stored.length };
  }
}

function tooFarAhead(now: number): string {
  return `\`timestamp\` is more than ${MOST_AHEAD_MS / 60_000} minutes in the future: the time here is ${new Date(now).toISOString()}`;
}

function tooOld(since: number, now: number): string {
  const here = `records are accepted from ${new Date(since).toISOString()} on; the time here is ${new Date(now).toISOString()}`;
  return `the record is too old: ${here}`;
}

/** If a record names a user of another customer, it counts for the customer in the record and for no user. */
function counted({ row, guarded, isForeignUser }: RecordFacts): readonly CountedDecision[] {
  const { timestamp, customer_id, decision, reason, evaluation_time_us } = row;
  if (decision === null || reason === null || evaluation_time_us === null) return [];
  const user_id = isForeignUser === true ? "" : row.user_id;
  return [{ timestamp, customer_id, user_id, decision, reason, evaluation_time_us, guarded }];
}

function isEvent(event: NewEvent | undefined): event is NewEvent {
  return event !== undefined;
}
