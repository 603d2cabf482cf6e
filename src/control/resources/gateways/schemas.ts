import * as z from "zod";
import { listQuery } from "../../platform/frame/list.ts";
import { timestamp } from "../../platform/frame/schemas.ts";
import { GATEWAY_STATUSES } from "./status.ts";
import type { KnownGateway } from "./store.ts";

export const gatewayList = listQuery(["id", "last_seen_at"], {
  status: z.enum(GATEWAY_STATUSES).optional(),
  policy_set: z.string().min(1).max(256).optional(),
});

/** A gateway, as the API answers it. */
export const gateway = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: "The name in its records." }),
    kind: z.enum(["gateway", "authz"]),
    address: z.string(),
    version: z.string(),
    status: z.enum(GATEWAY_STATUSES).meta({
      description:
        "`lost`: it has not reported for three intervals, and at least 15 s. `diverged`: it enforces what was never published or, from a folder, what most gateways of its set do not. `lagging`: it does not enforce the active version yet, or any.",
    }),
    policies: z.object({
      source: z.enum(["directory", "control_plane"]),
      set: z.string(),
      version: z.string().nullable(),
      digest: z.string().nullable(),
      active_digest: z.string().nullable().meta({ description: "Of the active version; null for folders." }),
      since: timestamp(),
    }),
    rollout: z
      .object({
        digest: z.string(),
        mode: z.enum(["shadow", "enforce"]),
        percentage: z.number(),
        decisions: z.object({ stable: z.int(), candidate: z.int() }).exactOptional().meta({
          description:
            "By each version since this candidate is in force, not counting those in shadow. Gateways of earlier releases do not report them.",
        }),
      })
      .nullable(),
    workers: z.object({ expected: z.int(), ready: z.int() }),
    clock_offset_ms: z
      .int()
      .meta({ description: "Milliseconds by which its clock is ahead of the database's." }),
    started_at: timestamp(),
    registered_at: timestamp(),
    last_seen_at: timestamp(),
    key: z.string().meta({ description: "The API key family with which it reports." }),
  })
  .meta({ id: "Gateway" });

export function gatewayAnswer({ row, status, expected }: KnownGateway) {
  const { id, name, kind, address, version, rollout, sender } = row;
  const { policy_source: source, policy_set: set, policy_set_version, digest, digest_since: since } = row;
  return {
    ...{ id, name, kind, address, version, status, rollout },
    policies: { source, set, version: policy_set_version, digest, active_digest: expected, since },
    workers: { expected: row.workers_expected, ready: row.workers_ready },
    clock_offset_ms: Number(row.clock_offset_ms),
    ...{ started_at: row.started_at, registered_at: row.registered_at, last_seen_at: row.seen_at },
    key: sender,
  };
}
