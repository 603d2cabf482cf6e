import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** Most records of a batch. */
export const MAX_RECORDS = 5000;
/** Most bytes of one. */
export const MAX_RECORDS_BYTES = 16_000_000;

/** `POST /gateway/records` brings records (record.ts), one object each. */
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
export type RecordRejection = (typeof REJECTIONS)[number];

const index = z.int().nonnegative();

/** It answers what became of them. */
export const recordsData = z.object({
  accepted: z.int().nonnegative(),
  duplicates: z.int().nonnegative(),
  rejected: z.array(z.object({ index, code: z.enum(REJECTIONS), message: z.string() })),
});

/** The same as a gateway reads it: earlier releases give no code, and later ones may have others. */
export const recordsAnswer = recordsData.extend({
  rejected: z.array(z.object({ index, code: z.string().exactOptional(), message: z.string() })),
});
export type RecordsAnswer = DeepReadonly<z.output<typeof recordsAnswer>>;
