import * as z from "zod";
import {
  choice,
  duration,
  flag,
  list,
  optional,
  path,
  ratio,
  setting,
  wholeNumber,
} from "../setting-types.ts";

const guard = z
  .strictObject({
    enabled: setting(
      flag(),
      true,
      "Takes a candidate back by itself when it does worse than the stable set, in mode `enforce`.",
    ),
    window: setting(duration("10s", "1h"), "1m", "The time over which the two sets are compared."),
    min_requests: setting(
      wholeNumber(10, 1_000_000),
      200,
      "Decisions that each set must have made within the window. With fewer, the comparison is inconclusive, and nothing changes.",
    ),
    denial_increase: setting(
      ratio(),
      0.05,
      "By how much the candidate's share of denials may exceed that of the stable set; 0.05: five percentage points. A difference " +
        "that chance could explain (less than three standard errors) does not count.",
    ),
    error_increase: setting(ratio(), 0.01, "The same for decisions that failed (`INTERNAL_ERROR`)."),
    slowdown: setting(
      wholeNumber(1, 1000),
      5,
      "How many times as long as with the stable set a decision may take with the candidate (99th percentile). Up to 5 ms is never " +
        "too long.",
    ),
    ignored_callers: setting(
      wholeNumber(0, 10),
      5,
      "What this many callers of each set do alone does not count: those who were denied most, or whose decisions took longest. So " +
        "one client that is denied on purpose cannot have a candidate taken back. With 0, every caller counts, which a gateway with few " +
        "callers needs.",
    ),
  })
  .prefault({});

export const rollout = z
  .strictObject({
    candidate: optional(
      path(),
      "Folder with the candidate: a second version of the policy set, under the same name. It is watched like `policies.directory`. " +
        "Absent: there is no rollout. The gateway follows changes of this section while it runs.",
    ),
    mode: setting(
      choice("shadow", "enforce"),
      "shadow",
      "`shadow`: the candidate is evaluated after each answer and decides nothing; differences are recorded. `enforce`: it decides " +
        "for a part of the callers.",
    ),
    percentage: setting(
      wholeNumber(0, 100),
      0,
      "The part of the callers for whom the candidate decides, in mode `enforce`.",
    ),
    sticky_by: setting(
      choice("user", "customer", "client_ip"),
      "user",
      "What decides which set a caller gets. Callers without it (not signed in, without a customer) go by their address.",
    ),
    steps: setting(
      list(wholeNumber(1, 100)),
      [],
      "Percentages through which the candidate goes up by itself, such as `[1, 10, 50, 100]`, instead of `percentage`.",
    ),
    step_pause: setting(
      duration("1s", "720h"),
      "10m",
      "Time at each step. A candidate goes up only after the guard could compare it and found nothing.",
    ),
    stable: setting(
      choice("set", "none"),
      "set",
      "`none`: there is no policy set yet, and every request passes that is not ambiguous and whose token is not invalid. Only " +
        "for mode `shadow`, which records what the candidate would deny.",
    ),
    state_file: optional(
      path(),
      "File in which the gateway keeps at which step the rollout is, and what the guard has taken back, so that a restart neither begins " +
        "again nor tries it again. Absent: a restart forgets both. Takes effect at a start.",
    ),
    guard,
  })
  .prefault({});
