import * as z from "zod";

/** The end of the year 9999, Unix ms. */
const LATEST = 253_402_300_799_999;
/** Most records of a batch. */
const MAX_RECORDS = 5000;

export const recordsBody = z.strictObject({
  records: z
    .array(z.unknown())
    .max(MAX_RECORDS, `must have at most ${MAX_RECORDS} records`)
    .meta({
      type: "array",
      items: { description: "What is no record is rejected by itself, never with the others." },
      maxItems: MAX_RECORDS,
      description: "Audit records as the gateway writes them, one object a decision or outcome.",
    }),
});

/** Why a record is not taken: it is none, or its time cannot be. */
export const REJECTIONS = ["INVALID_RECORD", "CLOCK_AHEAD", "TOO_OLD"] as const;
export type Rejection = (typeof REJECTIONS)[number];

export const takenIn = z.object({
  accepted: z.int().nonnegative(),
  duplicates: z.int().nonnegative(),
  rejected: z.array(
    z.object({ index: z.int().nonnegative(), code: z.enum(REJECTIONS), message: z.string() }),
  ),
});

/** Far from where sums would leave the range of a column. */
const counter = z.int().nonnegative().max(1e12);
const time = z.iso
  .datetime({ offset: true, error: "must be a time such as `2026-01-31T12:00:00Z`" })
  // what is counted by it must be a time to PostgreSQL, too
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) <= LATEST, {
    error: "must be a time of the years 1970 to 9999",
  });

export const statisticsBody = z.strictObject({
  instance: z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be 1 to 128 visible ASCII characters"),
  sequence: counter,
  from: time,
  to: time,
  caches: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "must be a name in lower case"),
        hits: counter,
        misses: counter,
        evictions: counter,
      }),
    )
    .max(50, "must have at most 50 caches"),
  audit: z.strictObject({ decided: counter, recorded: counter, dropped: counter }),
});
export type Statistics = z.output<typeof statisticsBody>;

export const statisticsTaken = z.object({ accepted: z.boolean() });
