import { rename, writeFile } from "node:fs/promises";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import type { Log } from "../../telemetry/log.ts";

/** Readable only by the owner, as everything in that folder. */
const FILE_MODE = 0o600;

/**
 * Tells Envoy's Lua the CORS headers of Envoy's own responses, those of the policy set in force. Nothing is permitted or
 * denied by them: if the file cannot be written, pages of other origins see an older set's, or none.
 *
 * @returns a function that never rejects
 */
export function createCorsFile(path: string, log: Log): (main: Snapshot) => Promise<void> {
  return async ({ cors }) => {
    try {
      // Lua reads either the old file or the new one, never part of one
      await writeFile(`${path}.next`, JSON.stringify(cors?.answers ?? {}), { mode: FILE_MODE });
      await rename(`${path}.next`, path);
    } catch (error) {
      log.error({ err: error }, "cannot write the CORS headers of Envoy's own responses");
    }
  };
}
