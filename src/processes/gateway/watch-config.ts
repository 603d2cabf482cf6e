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
  let wanted = inForce.rollout;
  /** `undefined` while it is not known. */
  let followed: GatewayConfig["rollout"] | undefined = inForce.rollout;

  const read = () => {
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
    const { rollout: started, ...before } = inForce;
    if (!isDeepStrictEqual(others, before))
      log.warn({}, "the configuration has changed: keys besides `rollout` take effect at the next start");
    if (next.stable !== started.stable) {
      log.error({}, "`rollout.stable` takes effect only at a start; nothing changes");
      return;
    }
    // whoever removes the section wants the candidate gone
    if (next.state_file !== started.state_file)
      log.warn({}, "`rollout.state_file` takes effect only at a start");
    wanted = next;
  };
  const follow = async () => {
    read();
    const next = wanted;
    if (followed !== undefined && isDeepStrictEqual(next, followed)) return;
    // if it fails, the next look tries again
    followed = undefined;
    await apply(next);
    followed = next;
  };
  return every(LOOK_MS, follow, { what: "follow the configuration", log, level: "error" });
}

/** Changes with the file's content; constant while there is no file. */
function versionOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
