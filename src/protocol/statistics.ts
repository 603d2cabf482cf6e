import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { counter, time } from "./figures.ts";

/** The body of `POST /gateway/statistics`: counts between two points in time. Later releases may count more, which is ignored. */
export const statisticsBody = z
  .object({
    /** Identifies one run of one process. Its counters start at zero. */
    instance: z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be 1 to 128 visible ASCII characters"),
    /** Counts from 1. A report that is sent again has the same number. */
    sequence: counter,
    from: time,
    to: time,
    caches: z
      .array(
        z.object({
          name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "must be a name in lower case"),
          hits: counter,
          misses: counter,
          evictions: counter,
        }),
      )
      .max(50, "must have at most 50 caches"),
    audit: z.object({ decided: counter, recorded: counter, dropped: counter }),
  })
  .meta({ id: "GatewayStatistics" });
export type StatisticsReport = DeepReadonly<z.output<typeof statisticsBody>>;

/** Why a report is not counted: it was counted before, or its time is impossible. */
const REJECTIONS = ["DUPLICATE", "CLOCK_AHEAD", "TOO_OLD"] as const;

/** Its response: whether the report was counted, and if not, why. */
export const statisticsTaken = z
  .object({
    accepted: z.boolean(),
    reason: z.enum(REJECTIONS).exactOptional(),
  })
  .meta({ id: "TakenStatistics" });

/** The same response as read by a gateway: earlier releases give no reason, and later ones may give others. */
export const statisticsAnswer = statisticsTaken.extend({ reason: z.string().exactOptional() });
export type StatisticsAnswer = DeepReadonly<z.output<typeof statisticsAnswer>>;
