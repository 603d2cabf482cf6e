import * as z from "zod";

/** The end of the year 9999, Unix ms. */
const LATEST = 253_402_300_799_999;

/** Small enough that sums stay within the range of a column. */
export const counter = z.int().nonnegative().max(1e12);

/** A time with any offset, which must also be a valid time to PostgreSQL. */
export const time = z.iso
  .datetime({ offset: true, error: "must be a time such as `2026-01-31T12:00:00Z`" })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) <= LATEST, {
    error: "must be a time between the years 1970 and 9999",
  });
