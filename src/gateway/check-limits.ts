import { CHECK_CLUSTERS, mostChecks } from "./clusters.ts";
import { askAdmin, type AdminAddress } from "./envoy-admin.ts";

/** What Envoy's statistics say about the checks over one cluster. */
export interface CheckSample {
  /** Since the start. */
  readonly answered: number;
  /** Not answered because of the limit, since the start. */
  readonly shed: number;
  /** Now, at workers and in Envoy. */
  readonly underWay: number;
}

/** So many checks are never too many. */
const LEAST = 32;
/** Growth per step while there is room, or the workers are not busy. */
const GROWTH = 1.25;
/** The largest limit to which it grows, as a multiple of the one at the start, and of each cluster. */
const MOST = 16;
const MOST_OF_CLUSTER = 65_536;

/**
 * The number of checks that may be under way at once, so that each is answered in time: by Little's law, the rate at which
 * workers answer, times how long a check may wait. That rate is what they can answer only while they are busy, and more are
 * under way than that, or some were shed. If some are shed and the workers are not busy, it is Envoy that has too little time:
 * fewer checks would only give the workers even less to do.
 */
export class CheckLimit {
  readonly #start: number;
  readonly #patienceMs: number;
  readonly #most: number;
  #limit: number;
  #last: { readonly sample: CheckSample; readonly at: number } | undefined;

  /**
   * @param start - the limit until something is known, to which it returns while nothing is late
   * @param patienceMs - how long a check may wait
   * @param most - the limit to which it grows where Envoy has too little time
   */
  constructor(start: number, patienceMs: number, most = start * MOST) {
    this.#start = start;
    this.#most = most;
    this.#patienceMs = patienceMs;
    this.#limit = start;
  }

  /**
   * @param at - when the sample was taken; monotonic, ms
   * @param isBusy - whether the workers are
   */
  next(sample: CheckSample, at: number, isBusy: boolean): number {
    const last = this.#last;
    this.#last = { sample, at };
    if (last === undefined || at <= last.at) return this.#limit;
    const rate = (sample.answered - last.sample.answered) / (at - last.at);
    const inTime = rate * this.#patienceMs;
    const hasShed = sample.shed > last.sample.shed;
    const isFull = hasShed || sample.underWay > Math.max(LEAST, inTime);
    // half-way: one measurement may be of a moment in which a worker got no CPU time
    if (isFull && isBusy) this.#limit = Math.max(LEAST, Math.floor((this.#limit + inTime) / 2));
    else this.#grow(hasShed ? this.#most : this.#start);
    return this.#limit;
  }

  #grow(most: number): void {
    if (this.#limit < most) this.#limit = Math.min(most, Math.ceil(this.#limit * GROWTH));
  }
}

/** The share of the time limit that a check may wait; the rest is for what varies, and for the decision. */
const WAITING_SHARE = 0.6;
/** A limit that differs less from the one in force is not sent. */
const NOTABLE = 0.05;

export interface CheckLimitsOptions {
  readonly workers: number;
  /** How long Envoy waits for the answer to a check; ms. */
  readonly timeout: number;
  /** Whether the workers have been busy of late. */
  readonly isBusy: () => boolean;
  /** Monotonic; ms. */
  readonly clock?: () => number;
}

const STATS =
  "/stats?filter=" +
  encodeURIComponent(
    `^cluster\\.(${CHECK_CLUSTERS.map(({ name }) => name).join("|")})\\.upstream_rq_(200|active|pending_active|active_overflow|pending_overflow)$`,
  );

/**
 * Adjusts how many checks one Envoy process lets begin to what its workers can answer in time. Envoy answers the others 503 at
 * once, without a call: the call is most of the cost of a check, so a worker could not refuse for less than it decides.
 *
 * @returns one step, to be repeated several times per second; rejects if Envoy does not respond
 */
export function checkLimits(
  admin: AdminAddress,
  { workers, timeout, isBusy, clock = () => performance.now() }: CheckLimitsOptions,
): () => Promise<void> {
  const limits = CHECK_CLUSTERS.map(({ name, mostAtWorker, first }) => {
    const start = mostChecks(workers, first);
    const most = Math.max(start, Math.min(start * MOST, MOST_OF_CLUSTER));
    return {
      name,
      atWorkers: mostAtWorker * workers,
      limit: new CheckLimit(start, timeout * WAITING_SHARE, most),
      inForce: start,
    };
  });
  return async () => {
    const { body } = await askAdmin(admin, "GET", STATS);
    const now = clock();
    for (const one of limits) {
      const most = one.limit.next(readSample(body, one.name), now, isBusy());
      if (Math.abs(most - one.inForce) < one.inForce * NOTABLE) continue;
      const key = `circuit_breakers.${one.name}.default`;
      // what waits in Envoy comes on top of what a worker takes at once
      const waiting = Math.max(LEAST, most - one.atWorkers);
      const path = `/runtime_modify?${key}.max_requests=${most}&${key}.max_pending_requests=${waiting}`;
      const { status } = await askAdmin(admin, "POST", path);
      if (status !== 200) throw new Error(`envoy did not accept the limit of ${one.name}: ${status}`);
      one.inForce = most;
    }
  };
}

/** Statistics that Envoy has not counted yet are missing. */
function readSample(stats: string, cluster: string): CheckSample {
  const value = (name: string) =>
    Number(new RegExp(`^cluster\\.${cluster}\\.upstream_rq_${name}: (\\d+)$`, "m").exec(stats)?.[1] ?? 0);
  return {
    answered: value("200"),
    shed: value("active_overflow") + value("pending_overflow"),
    underWay: value("active") + value("pending_active"),
  };
}
