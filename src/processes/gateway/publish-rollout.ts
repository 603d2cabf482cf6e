import type { GatewayConfig } from "../../config/index.ts";
import { folderSource } from "../../decision/policies/policy-source.ts";
import type { RolloutSettings } from "../../decision/rollout/rollout-controller.ts";
import type { Log } from "../../telemetry/log.ts";
import type { CandidatePublishing, CandidateTerms } from "./publish-candidate.ts";

type RolloutSection = GatewayConfig["rollout"];

/** Decides which rollout takes place: that of `gateway.yaml`, or else that of the control plane. */
export interface RolloutPublishing {
  /** Never rejects: without a candidate, the stable set decides. */
  start(): Promise<void>;
  /** Follows a changed section `rollout`. Rejects if the change cannot be published. */
  apply(section: RolloutSection): Promise<void>;
  /** Follows the control plane. Rejects if the change cannot be published. */
  follow(terms: CandidateTerms | undefined): Promise<void>;
}

export function createRolloutPublishing(
  config: GatewayConfig,
  {
    candidates,
    refresh,
    log,
  }: {
    readonly candidates: Pick<CandidatePublishing, "follow">;
    /** Puts the newest version of the gateway's own set in force, if that does not take long. */
    readonly refresh: () => Promise<void>;
    readonly log: Log;
  },
): RolloutPublishing {
  let section = config.rollout;
  let published: CandidateTerms | undefined;

  async function apply(next: RolloutSection): Promise<void> {
    // the candidate may have just been made the stable set: its callers must not get the version before in between
    if (section.candidate !== undefined && section.candidate !== next.candidate) await refresh();
    section = next;
    await candidates.follow(termsOf(next) ?? published);
  }

  return {
    async start() {
      if (section.candidate === undefined) return;
      await apply(section).catch((error: unknown) => {
        log.error({ err: error }, "cannot follow `rollout`");
      });
    },
    apply,
    async follow(terms) {
      const { key } = published ?? {};
      published = terms;
      const own = termsOf(section);
      if (own === undefined) await candidates.follow(terms);
      else if (terms !== undefined && terms.key !== key)
        log.warn({}, "the control plane's rollout is not followed: `rollout.candidate` names another one");
    },
  };
}

function termsOf({ candidate, ...section }: RolloutSection): CandidateTerms | undefined {
  if (candidate === undefined) return undefined;
  const source = folderSource(candidate);
  return { key: `folder ${candidate}`, source, settings: settingsOf(section), retry: true };
}

function settingsOf({
  mode,
  percentage,
  sticky_by,
  steps,
  step_pause,
  guard,
}: Omit<RolloutSection, "candidate">): RolloutSettings {
  return {
    ...{ mode, percentage, steps },
    stickyBy: sticky_by,
    stepPauseMs: step_pause,
    ...(guard.enabled && {
      guard: {
        windowMs: guard.window,
        minRequests: guard.min_requests,
        denialIncrease: guard.denial_increase,
        errorIncrease: guard.error_increase,
        slowdown: guard.slowdown,
        ignoredCallers: guard.ignored_callers,
      },
    }),
  };
}
