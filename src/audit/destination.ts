import type * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { errorCode } from "../runtime/error-code.ts";
import { errorMessage } from "../text/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RecordIntake } from "./delivery.ts";
import type { AuditLogger } from "./types.ts";

/** A kind of destination: its own keys of the configuration, and how one is opened. `destinations.ts` lists the kinds. */
export interface DestinationKind<Keys extends z.ZodRawShape = z.ZodRawShape> {
  /** What it does with records, for the reference. */
  readonly description: string;
  /** Its keys in the section `audit`, which all kinds share. */
  readonly keys: Keys;
  /** Keys that are optional in general but required by this kind: `control_plane.url`. */
  readonly needs?: readonly string[];
  /**
   * Checks that the machine has what it needs, before the start is reported as successful.
   * @throws Error with a one-line message
   */
  assertStartable?(settings: SettingsOf<Keys>): Promise<void>;
  /** Opens the destination for this process; several processes use the same one. */
  open(settings: SettingsOf<Keys>, dependencies: DestinationDependencies): Destination;
}

/** The values of a kind's keys. */
export type SettingsOf<Keys extends z.ZodRawShape> = DeepReadonly<z.output<z.ZodObject<Keys>>>;

export interface DestinationDependencies {
  readonly metrics: Metrics;
  readonly log: AuditLogger;
  /** Index of this process among the workers, and the number of workers. */
  readonly worker: number;
  readonly workers: number;
  /** The control plane, if the gateway syncs with one. */
  readonly intake?: RecordIntake;
}

/** Declares a kind; its keys give `open` the types of their values. */
export function destinationKind<Keys extends z.ZodRawShape>(
  kind: DestinationKind<Keys>,
): DestinationKind<Keys> {
  return kind;
}

/** A destination of records. At most one call of `write` at a time. */
export interface Destination {
  /**
   * Writes lines, in order. Never rejects: returns how many of them, counted from the first, were written completely,
   * and why the others were not. The caller passes the others again in its next call.
   *
   * @param lines - ASCII, each with its newline
   * @param urgent - decisions wait for these lines
   */
  write(lines: readonly string[], urgent?: boolean): Promise<WriteResult>;
  /** Releases the destination; does not wait for a write that hangs. */
  close(): Promise<void>;
}

export interface WriteResult {
  readonly written: number;
  /** Absent: nothing failed, and the rest can be written at once. */
  readonly error?: WriteError;
}

export interface WriteError {
  /** The reader is slow, which is not a failure. */
  readonly busy: boolean;
  readonly code: string;
  readonly message: string;
}

/** PIPE_BUF of Linux: a write of up to this many bytes to a pipe is atomic (POSIX write(2)). */
const PIPE_BUF = 4_096;

/** The longest prefix of `lines` that a pipe accepts atomically; at least one line. */
export function pipeSlice(lines: readonly string[]): readonly string[] {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    bytes += line.length;
    if (bytes > PIPE_BUF) break;
    count++;
  }
  return lines.slice(0, Math.max(1, count));
}

/** How many lines are completely within the first `bytes`. */
export function completeLines(lines: readonly string[], bytes: number): number {
  let rest = bytes;
  let count = 0;
  for (const line of lines) {
    rest -= line.length;
    if (rest < 0) break;
    count++;
  }
  return count;
}

export function writeError(error: unknown): WriteError {
  const code = errorCode(error) ?? "UNKNOWN";
  const busy = code === "EAGAIN" || code === "EWOULDBLOCK" || code === "EINTR";
  return { busy, code, message: errorMessage(error) };
}
