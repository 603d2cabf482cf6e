import type { SegmentIR } from "../ir.ts";

/** Whether a request can match both methods: HEAD matches rules for GET. */
export function areMethodsShared(a: string, b: string): boolean {
  if (a === b || a === "*" || b === "*") return true;
  return [a, b].every((method) => method === "GET" || method === "HEAD");
}

/** Whether a path can match both patterns. */
export function overlap(
  a: readonly SegmentIR[],
  b: readonly SegmentIR[],
  areSame: (a: string, b: string) => boolean = same,
): boolean {
  for (let index = 0; ; index++) {
    const [one, other] = [a[index], b[index]];
    if (one?.kind === "rest" || other?.kind === "rest") return true;
    if (one === undefined || other === undefined) return one === other;
    if (one.kind === "literal" && other.kind === "literal" && !areSame(one.value, other.value)) return false;
  }
}

function same(a: string, b: string): boolean {
  return a === b;
}
