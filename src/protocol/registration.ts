import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { counter, time } from "./figures.ts";

const visible = (max: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${max}}$`), `must be 1 to ${max} visible ASCII characters`);

/** The body of `POST /gateway/registration`: what a gateway is and enforces right now. Later releases may say more, which is ignored. */
export const registrationBody = z
  .object({
    /** The same after a restart; different for each gateway of a key. */
    id: visible(200),
    kind: z.enum(["gateway", "authz"]),
    /** Where it listens. */
    address: z.string().min(1).max(400),
    version: visible(64),
    policies: z.object({
      source: z.enum(["directory", "control_plane"]),
      set: z.string().min(1).max(256),
      /** Null while none is in force. */
      version: z.string().max(256).nullable(),
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal digits")
        .nullable(),
    }),
    /** Null without a candidate. */
    rollout: z
      .object({
        digest: z.string().regex(/^[0-9a-f]{64}$/),
        mode: z.enum(["shadow", "enforce"]),
        percentage: z.number().min(0).max(100),
        /** By each arm since this candidate is in force. In shadow there are no arms, and nothing is counted. */
        decisions: z.object({ stable: counter, candidate: counter }).exactOptional(),
      })
      .nullable(),
    workers: z.object({ expected: counter.max(64), ready: counter.max(64) }),
    started_at: time,
    /** By the gateway's clock. */
    sent_at: time,
    /** How often it reports. */
    interval_ms: z.int().min(1_000).max(600_000),
    /** It is shutting down, and is not expected any more. */
    leaving: z.boolean(),
  })
  .meta({ id: "GatewayRegistration" });
export type Registration = DeepReadonly<z.output<typeof registrationBody>>;

export const registrationTaken = z
  .object({
    /** Milliseconds by which the gateway's clock is ahead of the database's. */
    clock_offset_ms: z.int(),
  })
  .meta({ id: "TakenRegistration" });
/** As a gateway reads it: later releases may answer more. */
export const registrationAnswer = registrationTaken.loose();
export type RegistrationAnswer = DeepReadonly<z.output<typeof registrationTaken>>;
