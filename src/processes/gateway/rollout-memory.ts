import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { STICKY_KEYS } from "../../decision/policies/release.ts";
import { GUARD_CAUSES } from "../../decision/rollout/compare-arms.ts";
import type { RolloutSettings, RolloutState } from "../../decision/rollout/rollout-controller.ts";
import { errorMessage } from "../../text/index.ts";

const state = z.object({
  /** Of the candidate. */
  digest: z.string(),
  step: z.int().min(0),
  takenBack: z.object({ digest: z.string(), cause: z.enum(GUARD_CAUSES), detail: z.string() }).optional(),
});
const settings = z.object({
  mode: z.enum(["shadow", "enforce"]),
  percentage: z.number(),
  stickyBy: z.enum(STICKY_KEYS),
  steps: z.array(z.number()),
  stepPauseMs: z.number(),
  guard: z.record(z.string(), z.number()).optional(),
});
const content = z.object({ key: z.string(), settings, state }).nullable();
type Content = z.output<typeof content>;

/** Keeps the course of a rollout in a file, so that a restart neither begins it again nor tries what was taken back. */
export interface RolloutMemory {
  /** @returns the part of what is remembered that holds for this rollout with these settings */
  recall(rollout: RememberedTerms, digest: string): Omit<RolloutState, "digest"> | undefined;
  /** Remembers the state of a rollout in place of what was remembered; none if there is no rollout. Never throws. */
  keep(rollout: RememberedTerms | undefined, state: RolloutState | undefined): void;
}

/** What identifies a rollout, and what it was set to. */
export interface RememberedTerms {
  readonly key: string;
  readonly settings: RolloutSettings;
  /** A candidate that was taken back gets another try with other settings. */
  readonly retry: boolean;
}

/** @throws Error with a one-line message if the file cannot be read, or is not one of ours; it may be missing */
export function readRolloutMemory(file: string): Content {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new Error(`rollout.state_file: cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
  const read = content.safeParse(jsonOf(text));
  if (read.success) return read.data;
  throw new Error(
    `rollout.state_file: ${file} is not the state of a rollout: delete it, and the rollout begins as configured`,
  );
}

/** @param log - for what cannot be written */
export function createRolloutMemory(
  file: string,
  log: { error(fields: object, message: string): void },
): RolloutMemory {
  let known = readRolloutMemory(file);
  return {
    recall({ key, settings, retry }, digest) {
      if (known?.key !== key || known.state.digest !== digest) return undefined;
      const { settings: before, state } = known;
      const isSameCourse =
        before.mode === settings.mode && isDeepStrictEqual(before.steps, [...settings.steps]);
      const staysBack = state.takenBack !== undefined && (!retry || isSame(before, settings));
      return {
        step: isSameCourse ? state.step : 0,
        ...(staysBack && state.takenBack !== undefined && { takenBack: state.takenBack }),
      };
    },
    keep(rollout, state) {
      const next = rollout && state ? contentOf(rollout, state) : null;
      if (isDeepStrictEqual(next, known)) return;
      known = next;
      try {
        // whole, or not at all
        writeFileSync(`${file}.next`, `${JSON.stringify(next)}\n`, { mode: 0o600, flush: true });
        renameSync(`${file}.next`, file);
      } catch (error) {
        log.error(
          { err: error },
          "cannot write `rollout.state_file`: after a restart, the rollout may begin again, or try what was taken back",
        );
      }
    },
  };
}

/** As it will be read. */
function contentOf({ key, settings }: RememberedTerms, state: RolloutState): Content {
  return content.parse(jsonOf(JSON.stringify({ key, settings, state })));
}

function isSame(before: z.output<typeof settings>, now: RolloutSettings): boolean {
  return isDeepStrictEqual(before, settings.parse(jsonOf(JSON.stringify(now))));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
