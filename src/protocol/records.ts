import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** Maximum number of records in a batch. */
export const MAX_RECORDS = 5000;
/** Maximum size of one record in bytes. */
export const MAX_RECORDS_BYTES = 16_000_000;

/** The body of `POST /gateway/records`: records (record.ts), one object each. */
export const recordsBody = z
  .strictObject({
    records: z
      .array(z.unknown())
      .max(MAX_RECORDS, `must have at most ${MAX_RECORDS} records`)
      .meta({
        type: "array",
        items: { description: "Each invalid record is rejected on its own; the others are accepted." },
        maxItems: MAX_RECORDS,
        description: "Audit records as the gateway writes them, one object per decision or outcome.",
      }),
  })
  .meta({ id: "GatewayRecords" });

/** Why a record is rejected: it is not a record, or its time is impossible. */
export const REJECTIONS = ["INVALID_RECORD", "CLOCK_AHEAD", "TOO_OLD"] as const;
export type RecordRejection = (typeof REJECTIONS)[number];

const index = z.int().nonnegative();

/** Its response: what happened to the records. */
export const recordsData = z
  .object({
    accepted: z.int().nonnegative(),
    duplicates: z.int().nonnegative(),
    rejected: z.array(z.object({ index, code: z.enum(REJECTIONS), message: z.string() })),
  })
  .meta({ id: "TakenRecords" });

/** The same response as read by a gateway: earlier releases have no code, and later ones may have other codes. */
export const recordsAnswer = recordsData.extend({
  rejected: z.array(z.object({ index, code: z.string().exactOptional(), message: z.string() })),
});
export type RecordsAnswer = DeepReadonly<z.output<typeof recordsAnswer>>;
