import type { ControlContext } from "../context.ts";
import type { NewEvent } from "../events.ts";
import type { Unit } from "../unit.ts";
import { countDecisions, type CountedDecision } from "../analytics/count-decisions.ts";
import { insertRecords } from "./insert-records.ts";
import { keptSince, makePartition, startOfDay } from "./partitions.ts";
import { readRecord, type RecordFacts } from "./read-record.ts";
import { violationEvent } from "./violation-event.ts";

/** A batch, read record by record. */
export interface ReadBatch {
  readonly records: readonly RecordFacts[];
  readonly rejected: readonly { readonly index: number; readonly message: string }[];
}

export interface TakenIn {
  /** Stored by this call. */
  readonly accepted: number;
  /** Stored before, or twice in the batch. */
  readonly duplicates: number;
}

const DAY_MS = 86_400_000;

/** Takes in what gateways recorded. */
export class Intake {
  readonly #context: ControlContext;
  /** Start of the days whose partition is known to be there. */
  readonly #days = new Set<number>();

  constructor(context: ControlContext) {
    this.#context = context;
  }

  /** Reads a batch, and sees to the partitions that it needs: outside the transaction, for that locks tables. */
  async prepare(values: readonly unknown[]): Promise<ReadBatch> {
    const now = this.#context.clock();
    const since = keptSince(now, this.#context.settings.retention.auditMs);
    const records: RecordFacts[] = [];
    const rejected: { index: number; message: string }[] = [];
    for (const [index, value] of values.entries()) {
      const read = readRecord(value);
      if (typeof read === "string") rejected.push({ index, message: read });
      else if (read.row.timestamp < since)
        rejected.push({ index, message: "the record is older than records are kept" });
      else records.push(read);
    }
    await this.#makePartitions(records, now);
    return { records, rejected };
  }

  /** A clock that is ahead of ours by more than a day gets no partition: what it writes is in the default table. */
  async #makePartitions(records: readonly RecordFacts[], now: number): Promise<void> {
    const days = new Set(records.map(({ row }) => startOfDay(row.timestamp)));
    for (const day of days) {
      if (this.#days.has(day) || day > now + DAY_MS) continue;
      if (await makePartition(this.#context.db, "audit_records", day)) this.#days.add(day);
    }
  }

  /** Stores what is new, counts it, and announces violations of policies; all of it or nothing. */
  async take(unit: Unit, { records }: ReadBatch): Promise<TakenIn> {
    if (records.length === 0) return { accepted: 0, duplicates: 0 };
    const stored = await insertRecords(unit.trx, records);
    await countDecisions(unit.trx, stored.flatMap(counted));
    for (const event of stored.map(violationEvent).filter(isEvent)) unit.emit(event);
    return { accepted: stored.length, duplicates: records.length - stored.length };
  }
}

function counted({ row, guarded }: RecordFacts): readonly CountedDecision[] {
  const { timestamp, customer_id, user_id, decision, reason, evaluation_time_us } = row;
  if (decision === null || reason === null || evaluation_time_us === null) return [];
  return [{ timestamp, customer_id, user_id, decision, reason, evaluation_time_us, guarded }];
}

function isEvent(event: NewEvent | undefined): event is NewEvent {
  return event !== undefined;
}
