import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** The end of the year 9999, Unix ms. */
const LATEST = 253_402_300_799_999;

/** Far from where sums would leave the range of a column. */
const counter = z.int().nonnegative().max(1e12);
const time = z.iso
  .datetime({ offset: true, error: "must be a time such as `2026-01-31T12:00:00Z`" })
  // what is counted by it must be a time to PostgreSQL, too
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) <= LATEST, {
    error: "must be a time of the years 1970 to 9999",
  });

/** `POST /gateway/statistics` says what was counted between two moments. */
export const statisticsBody = z.strictObject({
  /** Of one run of one process: its counters begin at zero. */
  instance: z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be 1 to 128 visible ASCII characters"),
  /** From 1 on; a report that is sent again has the same. */
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
export type StatisticsReport = DeepReadonly<z.output<typeof statisticsBody>>;

/** It answers whether the report was new; a gateway needs to know no more than that it was taken. */
export const statisticsTaken = z.object({ accepted: z.boolean() });
