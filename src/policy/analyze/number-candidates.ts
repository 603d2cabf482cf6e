/**
 * Numbers that cover every case that comparisons with `constants` can distinguish: each of them, one between each two,
 * and one beyond each end. A whole number where there is one.
 */
export function numberCandidates(constants: readonly number[]): number[] {
  const sorted = [...new Set(constants)].sort((a, b) => a - b);
  const [first = 0] = sorted;
  const last = sorted.at(-1) ?? 0;
  const between = sorted.flatMap((low, index) => {
    const high = sorted[index + 1];
    return high === undefined ? [] : numbersBetween(low, high);
  });
  const beyond = [last + 1, first - 1, Number.MAX_VALUE, -Number.MAX_VALUE].filter(
    (value) => value > last || value < first,
  );
  return [...sorted, ...between, ...beyond, ...(sorted.length === 0 ? [0] : [])].map((value) => value + 0);
}

function numbersBetween(low: number, high: number): number[] {
  const whole = Math.floor(low) + 1;
  const candidates = [whole, low / 2 + high / 2, nextAbove(low)];
  const found = candidates.find((value) => value > low && value < high);
  return found === undefined ? [] : [found];
}

/** @returns the smallest double above `value` */
function nextAbove(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  if (value === 0) return Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

/**
 * Whether {@link numberCandidates} finds `count` more numbers between each two of these that have any between them,
 * whichever side of the last one is divided.
 */
export function haveRoom(constants: readonly number[], count: number): boolean {
  const sorted = [...new Set(constants)].sort((a, b) => a - b);
  return sorted.slice(1).every((end, index) => {
    const start = sorted[index] ?? end;
    if (numbersBetween(start, end).length === 0) return true;
    let [low, high] = [start, end];
    for (let round = 0; round < count; round++) {
      const [above] = numbersBetween(low, end);
      const [below] = numbersBetween(start, high);
      if (above === undefined || below === undefined) return false;
      [low, high] = [above, below];
    }
    return true;
  });
}
