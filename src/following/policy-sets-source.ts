import { setTimeout as delay } from "node:timers/promises";
import type { PolicyFolder } from "../decision/policies/policy-folder.ts";
import type { PolicySource } from "../decision/policies/policy-source.ts";
import type { ControlPlaneClient } from "./client.ts";
import type { StateFeed } from "./state-feed.ts";
import type { ActiveVersion } from "./standings.ts";

/** Before an attempt that follows one which failed; the interval comes much later. */
const RETRIES_MS = [100, 400, 1_600] as const;

/** The active versions of the control plane, read again as soon as the feed says that there is another. */
export function controlPlaneSource(
  client: Pick<ControlPlaneClient, "policySet">,
  feed: Pick<StateFeed, "current" | "onChange">,
): PolicySource {
  return {
    kind: "control_plane",
    async read(name, seen) {
      const active = feed.current?.policySet(name);
      if (active !== undefined && seen !== "" && fingerprintOf(active) === seen) return unchanged(seen);
      const set = await insistently(() => client.policySet(name));
      return set === undefined
        ? absent(name)
        : { files: set.files, diagnostics: [], fingerprint: fingerprintOf(set), version: set.version };
    },
    watch(name, changed) {
      return feed.onChange(({ policySets, complete }) => {
        if (complete || policySets.includes(name)) changed();
      });
    },
  };
}

async function insistently<T>(call: () => Promise<T>): Promise<T> {
  for (const pause of RETRIES_MS) {
    try {
      return await call();
    } catch {
      await delay(pause, undefined, { ref: false });
    }
  }
  return call();
}

function fingerprintOf({ version, digest }: ActiveVersion): string {
  return JSON.stringify([version, digest]);
}

function unchanged(fingerprint: string): PolicyFolder {
  return { files: [], diagnostics: [], fingerprint };
}

function absent(name: string): PolicyFolder {
  const message = `policy set \`${name}\` has no active version in the control plane`;
  const finding = { severity: "error", code: "no-policy-set", message, file: name } as const;
  return { files: [], diagnostics: [{ ...finding, line: 1, column: 1, length: 1 }], fingerprint: "" };
}
