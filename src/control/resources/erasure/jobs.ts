import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork, UnitOrigin } from "../../platform/unit.ts";
import { PAST_BARRIER, reportWaits, setBarriers } from "./barrier.ts";
import { erasureFailure, erasureRetryDelay } from "./failure.ts";
import { ERASE, type Batch } from "./steps.ts";
import { recordFailure, STEPS, type ErasureKind, type ErasureRow, type StepName } from "./store.ts";

const ACTOR = { kind: "system", id: "erasure", name: "erasure" } as const;

type Counts = Pick<ErasureRow, "users" | "sessions" | "events" | "records">;

/** What each step looks at. */
const COUNTED_IN: Readonly<Record<StepName, keyof Counts | undefined>> = {
  users: "users",
  sessions: "sessions",
  events: "events",
  refusals: "events",
  deliveries: undefined,
  records: "records",
  changes: "records",
  acts: "records",
  membership: "records",
  keys: undefined,
  user_events: "events",
  user_deliveries: undefined,
  user_records: "records",
};

type Dependencies = Pick<ControlContext, "db" | "units" | "clock" | "log">;

/** Goes on with all erasures until they are finished or have failed, a batch at a time. */
export async function runErasures(dependencies: Dependencies, signal?: AbortSignal): Promise<void> {
  await setBarriers(dependencies.db);
  while (signal?.aborted !== true && (await eraseSome(dependencies)));
  await reportWaits(dependencies);
}

/** One batch of one erasure. @returns false where there is nothing left to do now */
async function eraseSome({ db, units, clock, log }: Dependencies): Promise<boolean> {
  const origin: UnitOrigin = { actor: ACTOR, requestId: newId("request"), clientIp: "" };
  const claimed: { erasure: ErasureRow | undefined } = { erasure: undefined };
  try {
    await units(origin, async (unit) => {
      const erasure = (claimed.erasure = await claim(unit));
      if (erasure !== undefined) await advance(unit, erasure, await ERASE[erasure.step](unit, erasure));
    });
  } catch (error) {
    const { erasure } = claimed;
    if (erasure === undefined) throw error;
    const failures = erasure.failures + 1;
    const next = new Date(clock() + erasureRetryDelay(failures));
    const { id, kind, step } = erasure;
    log.warn({ err: error, erasure: id, kind, step, failures }, "could not finish an erasure; will retry");
    await recordFailure(db, erasure, { message: erasureFailure(error), next }).catch(() => {
      throw error;
    });
  }
  return claimed.erasure !== undefined;
}

/** Any of them: a large one does not hold up the others, and one that has failed waits for its time. */
async function claim({ trx, now }: UnitOfWork): Promise<ErasureRow | undefined> {
  return trx("erasures")
    .whereNull("finished_at")
    .whereRaw("coalesce(next_attempt_at <= ?, true)", [now])
    .whereRaw(PAST_BARRIER)
    .orderByRaw("random()")
    .forUpdate()
    .skipLocked()
    .first<ErasureRow | undefined>();
}

async function advance(unit: UnitOfWork, erasure: ErasureRow, { rows, position }: Batch): Promise<void> {
  const { id, kind, step } = erasure;
  const next = position === undefined ? stepAfter(kind, step) : step;
  const counts = countsAfter(erasure, rows);
  const progress =
    next === undefined
      ? { finished_at: unit.now, position: null, subject: null }
      : { step: next, position: position === undefined ? null : JSON.stringify(position) };
  await unit
    .trx("erasures")
    .where({ id })
    .update({ ...counts, ...progress, failures: 0, failure: null, next_attempt_at: null });
  if (next === undefined) recordEnd(unit, erasure, counts);
}

function countsAfter(erasure: ErasureRow, rows: number): Counts {
  const after = (name: keyof Counts) => erasure[name] + (COUNTED_IN[erasure.step] === name ? rows : 0);
  return {
    users: after("users"),
    sessions: after("sessions"),
    events: after("events"),
    records: after("records"),
  };
}

function stepAfter(kind: ErasureKind, step: StepName): StepName | undefined {
  const steps: readonly StepName[] = STEPS[kind];
  return steps[steps.indexOf(step) + 1];
}

/** That it was done, and how much there was: the proof that is kept has no personal data. */
function recordEnd(unit: UnitOfWork, { id, kind, customer_id }: ErasureRow, counts: Counts): void {
  unit.record({
    action: `${kind}.erased`,
    target: { type: kind, id },
    ...(customer_id !== null && { customerId: customer_id }),
    after: { ...counts },
  });
}
