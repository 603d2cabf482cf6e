import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig, LoadResult } from "../../config/index.ts";
import { every, type Job } from "../../runtime/every.ts";
import type { Log } from "../../telemetry/log.ts";

/** The file from which a running gateway was configured, and how it is read again. */
export interface ConfigFile {
  readonly path: string;
  readonly load: () => LoadResult;
}

const LOOK_MS = 250;

/**
 * Follows changes of the section `rollout` in the file while the gateway runs, so that a rollout can be changed, and
 * taken back, without a restart. All other keys take effect at the next start. A file with errors changes nothing.
 *
 * @param inForce - the configuration that the gateway was started with
 */
export function watchRollout(
  { path, load }: ConfigFile,
  inForce: GatewayConfig,
  { apply, log }: { readonly apply: (rollout: GatewayConfig["rollout"]) => Promise<void>; readonly log: Log },
): Job {
  let seen = versionOf(path);
  let changing = seen;
  let { rollout } = inForce;
  const follow = async () => {
    const version = versionOf(path);
    if (version === seen) return;
    // an editor may still be writing
    if (version !== changing) {
      changing = version;
      return;
    }
    seen = version;
    const loaded = load();
    if (!loaded.ok) {
      log.error({ report: loaded.errors }, "the changed configuration has errors; nothing changes");
      return;
    }
    const { rollout: next, ...others } = loaded.config;
    const { rollout: _, ...before } = inForce;
    if (!isDeepStrictEqual(others, before))
      log.warn({}, "the configuration has changed: keys besides `rollout` take effect at the next start");
    if (isDeepStrictEqual(next, rollout)) return;
    for (const key of ["stable", "state_file"] as const)
      if (next[key] !== inForce.rollout[key]) {
        log.error({}, `\`rollout.${key}\` takes effect only at a start; nothing changes`);
        return;
      }
    rollout = next;
    await apply(next);
  };
  return every(LOOK_MS, follow, { what: "check the configuration for changes", log });
}

/** Changes with the file's content; constant while there is no file. */
function versionOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
