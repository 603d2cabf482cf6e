/** A literal: variable `v` (from 1) is `v` if it is true, and `-v` if it is false. */
export type Literal = number;

type Clause = Literal[];

const UNSET = 0;

/**
 * A SAT solver: conflict-driven clause learning (Marques-Silva and Sakallah, GRASP, 1996) with two watched literals per
 * clause and decisions by activity (Moskewicz et al., Chaff, 2001). Clauses may be added between calls of `solve`. Small
 * on purpose: conditions have at most a few thousand variables.
 */
export class SatSolver {
  /** By variable: 1 if it is true, -1 if it is false. */
  readonly #values: number[] = [UNSET];
  readonly #levels: number[] = [0];
  readonly #reasons: (Clause | undefined)[] = [undefined];
  readonly #phases: number[] = [-1];
  readonly #activities: number[] = [0];
  /** Clauses by watched literal. */
  readonly #watches = new Map<Literal, Clause[]>();
  readonly #trail: Literal[] = [];
  /** Where each decision level begins in the trail. */
  readonly #starts: number[] = [];
  #propagated = 0;
  #bump = 1;
  #conflicts = 0;
  #contradictory = false;
  readonly #limit: number;

  /** @param limit - the number of conflicts after which it gives up; at most 10,000, so that activities are finite */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns a new variable */
  variable(): number {
    this.#values.push(UNSET);
    this.#levels.push(0);
    this.#reasons.push(undefined);
    this.#phases.push(-1);
    this.#activities.push(0);
    return this.#values.length - 1;
  }

  /** Requires that one of `literals` is true. */
  add(literals: readonly Literal[]): void {
    this.#backtrack(0);
    const open = new Set<Literal>();
    for (const literal of literals) {
      const value = this.#valueOf(literal);
      if (value === 1 || open.has(-literal)) return;
      if (value === UNSET) open.add(literal);
    }
    const clause = [...open];
    const [only] = clause;
    if (only === undefined) this.#contradictory = true;
    else if (clause.length === 1) this.#assign(only, undefined);
    else this.#watch(clause);
  }

  /** @returns whether all clauses can be true together; then `isTrue` tells how. `undefined` if it gave up */
  solve(): boolean | undefined {
    for (;;) {
      const conflict = this.#contradictory ? [] : this.#propagate();
      if (conflict !== undefined) {
        if (this.#contradictory || this.#starts.length === 0) {
          this.#contradictory = true;
          return false;
        }
        this.#conflicts += 1;
        if (this.#conflicts > this.#limit) return undefined;
        this.#learn(conflict);
        continue;
      }
      const next = this.#undecided();
      if (next === undefined) return true;
      this.#starts.push(this.#trail.length);
      this.#assign(next * (this.#phases[next] ?? -1), undefined);
    }
  }

  /** Whether a literal is true in the last solution. */
  isTrue(literal: Literal): boolean {
    return this.#valueOf(literal) === 1;
  }

  #valueOf(literal: Literal): number {
    const value = this.#values[Math.abs(literal)] ?? UNSET;
    return literal > 0 ? value : -value;
  }

  #assign(literal: Literal, reason: Clause | undefined): void {
    const variable = Math.abs(literal);
    this.#values[variable] = literal > 0 ? 1 : -1;
    this.#levels[variable] = this.#starts.length;
    this.#reasons[variable] = reason;
    this.#trail.push(literal);
  }

  /** The first two literals of a clause are watched. */
  #watch(clause: Clause): void {
    for (const literal of clause.slice(0, 2)) {
      const watching = this.#watches.get(literal) ?? [];
      watching.push(clause);
      this.#watches.set(literal, watching);
    }
  }

  /** Assigns what follows. @returns a clause that is false, if there is one */
  #propagate(): Clause | undefined {
    while (this.#propagated < this.#trail.length) {
      const wrong = -(this.#trail[this.#propagated++] ?? 0);
      const watching = this.#watches.get(wrong) ?? [];
      const kept: Clause[] = [];
      this.#watches.set(wrong, kept);
      for (const [index, clause] of watching.entries()) {
        if (clause[0] === wrong) [clause[0], clause[1]] = [clause[1] ?? 0, wrong];
        const first = clause[0] ?? 0;
        if (this.#valueOf(first) !== 1) {
          const at = clause.findIndex((literal, place) => place > 1 && this.#valueOf(literal) !== -1);
          if (at > 0) {
            const other = clause[at] ?? 0;
            [clause[1], clause[at]] = [other, wrong];
            const watchers = this.#watches.get(other) ?? [];
            watchers.push(clause);
            this.#watches.set(other, watchers);
            continue;
          }
          if (this.#valueOf(first) === -1) {
            kept.push(...watching.slice(index));
            return clause;
          }
          this.#assign(first, clause);
        }
        kept.push(clause);
      }
    }
    return undefined;
  }

  /** Learns the first unique implication point of a conflict, and returns to the level at which it follows. */
  #learn(conflict: Clause): void {
    const level = this.#starts.length;
    const seen = new Set<number>();
    const learned: Literal[] = [];
    let open = 0;
    let place = this.#trail.length;
    let reason: Clause = conflict;
    let asserted = 0;
    do {
      for (const literal of reason) {
        const variable = Math.abs(literal);
        if (seen.has(variable) || this.#levels[variable] === 0 || literal === asserted) continue;
        seen.add(variable);
        this.#activities[variable] = (this.#activities[variable] ?? 0) + this.#bump;
        if (this.#levels[variable] === level) open++;
        else learned.push(literal);
      }
      do place--;
      while (!seen.has(Math.abs(this.#trail[place] ?? 0)));
      asserted = this.#trail[place] ?? 0;
      reason = this.#reasons[Math.abs(asserted)] ?? [];
      open--;
    } while (open > 0);
    this.#bump *= 1.05;
    learned.sort((a, b) => (this.#levels[Math.abs(b)] ?? 0) - (this.#levels[Math.abs(a)] ?? 0));
    const [latest] = learned;
    this.#backtrack(latest === undefined ? 0 : (this.#levels[Math.abs(latest)] ?? 0));
    const clause = [-asserted, ...learned];
    if (clause.length > 1) this.#watch(clause);
    this.#assign(-asserted, clause);
  }

  #backtrack(level: number): void {
    const start = this.#starts[level];
    if (start === undefined) return;
    for (const literal of this.#trail.splice(start)) {
      const variable = Math.abs(literal);
      this.#phases[variable] = literal > 0 ? 1 : -1;
      this.#values[variable] = UNSET;
    }
    this.#starts.length = level;
    this.#propagated = Math.min(this.#propagated, start);
  }

  #undecided(): number | undefined {
    let best: number | undefined;
    for (let variable = 1; variable < this.#values.length; variable++) {
      if (this.#values[variable] !== UNSET) continue;
      if (best === undefined || (this.#activities[variable] ?? 0) > (this.#activities[best] ?? 0))
        best = variable;
    }
    return best;
  }
}
