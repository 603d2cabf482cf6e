import type { VerdictCache } from "./verdict-cache.ts";

/** Evaluates each condition again: for decisions that are explained or repeated. */
export const NO_VERDICT_CACHE: Pick<VerdictCache, "verdict"> = {
  verdict: (_rule, _condition, _attributes, _identified, evaluate) => evaluate(),
};
