import type { PolicyFolder } from "../decision/policies/policy-folder.ts";
import type { PolicySource } from "../decision/policies/policy-source.ts";
import { backoffMs } from "../runtime/backoff.ts";
import { sleep } from "../runtime/sleep.ts";
import type { ControlPlaneClient } from "./client.ts";
import type { StateFeed } from "./state-feed.ts";
import type { ActiveVersion } from "./synced-state.ts";

/** Retry delay after a failure; the interval is much longer. */
const ATTEMPTS = 4;
const RETRIES = { firstMs: 300, longestMs: 2_000 };

/** The active versions at the control plane, fetched again as soon as the feed reports a new one. */
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

/** One version of a set, which never changes: the candidate of a rollout. */
export function versionSource(
  client: Pick<ControlPlaneClient, "policySetVersion">,
  version: string,
): PolicySource {
  return {
    kind: "control_plane",
    async read(name, seen) {
      if (seen !== "") return unchanged(seen);
      const set = await insistently(() => client.policySetVersion(name, version));
      return set === undefined
        ? absent(`${name}@${version}`, "is not in the control plane")
        : { files: set.files, diagnostics: [], fingerprint: fingerprintOf(set), version };
    },
    watch: () => () => undefined,
  };
}

async function insistently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await call();
    } catch {
      await sleep(backoffMs(attempt, RETRIES), { ref: false });
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

function absent(name: string, why = "has no active version in the control plane"): PolicyFolder {
  const message = `policy set \`${name}\` ${why}`;
  const finding = { severity: "error", code: "no-policy-set", message, file: name } as const;
  return { files: [], diagnostics: [{ ...finding, line: 1, column: 1, length: 1 }], fingerprint: "" };
}
