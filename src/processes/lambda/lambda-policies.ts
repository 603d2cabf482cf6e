import type { GatewayConfig } from "../../config/index.ts";
import { readPolicyFolder } from "../../decision/policies/policy-folder.ts";
import { PolicySets } from "../../decision/policies/policy-sets.ts";
import type { PolicySource } from "../../decision/policies/policy-source.ts";
import { PolicyStore } from "../../decision/policies/policy-store.ts";
import type { PolicyRelease } from "../../decision/policies/release.ts";
import { compilePolicySet } from "../../policy/index.ts";
import { controlPlaneSource } from "../../sync/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { caseSensitive, storeOptions, type ControlPlaneLink } from "../gateway/control-plane-link.ts";
import { provisionsOf } from "../gateway/provisions.ts";

/** The policy sets of a function: the gateway's own, and those of customers. */
export interface LambdaPolicies {
  readonly current: () => PolicyRelease | undefined;
  /** Loads what has changed since the last call. Never rejects. */
  refresh(): Promise<void>;
  close(): void;
}

/** A bundle is one file, so there is no script for a thread; and nothing else waits for this process. */
const compile: NonNullable<ConstructorParameters<typeof PolicyStore>[0]["compile"]> = (files, name) =>
  Promise.resolve(compilePolicySet(files, { name }));

export function createLambdaPolicies(
  config: GatewayConfig,
  {
    link,
    metrics,
    log,
  }: { readonly link: ControlPlaneLink | undefined; readonly metrics: Metrics; readonly log: Log },
): LambdaPolicies {
  const options = storeOptions(config, link);
  const source = options.source.kind === "folder" ? packed(config.policies.directory) : options.source;
  const store = new PolicyStore({ ...options, source, compile }, { metrics, log });
  const sets =
    link &&
    new PolicySets(
      {
        source: controlPlaneSource(link.client, link.feed),
        refreshIntervalMs: config.policies.refresh_interval,
        caseSensitive: caseSensitive(config),
        provisions: provisionsOf(config),
        compile,
        publish: () => Promise.resolve(),
      },
      { metrics, log },
    );
  let warnedOf: string | undefined;
  /** A rollout is for gateways: until it is promoted, a function decides by the active version. */
  function warnOfRollout(): void {
    if (options.source.kind === "folder") return;
    const rollout = link?.feed.current?.policySet(config.policies.policy_set)?.rollout;
    if (rollout === undefined || rollout.id === warnedOf) return;
    warnedOf = rollout.id;
    log.warn(
      { rollout: rollout.id, policy_set: config.policies.policy_set },
      "a rollout is in progress: this function decides by the active version until the candidate is promoted",
    );
  }
  return {
    current() {
      const main = store.current;
      if (main === undefined) return undefined;
      const names = link?.feed.current?.namedPolicySets() ?? [];
      const loaded = [...names].flatMap((name) => {
        const set = sets?.get(name);
        return set === undefined ? [] : [[name, set] as const];
      });
      return { main, customers: new Map(loaded) };
    },
    async refresh() {
      warnOfRollout();
      if (link?.feed.current !== undefined) sets?.want(link.feed.current.namedPolicySets());
      // what a function is deployed with does not change
      if (options.source.kind !== "folder" || store.current === undefined) await store.refresh();
      await sets?.settled();
    },
    close() {
      store.close();
      sets?.close();
    },
  };
}

/** A folder to which nobody writes while it is read. */
function packed(directory: string): PolicySource {
  return {
    kind: "folder",
    read: (name) => readPolicyFolder(directory, name),
    watch: () => () => undefined,
  };
}
