/**
 * A timeout for work that cannot be aborted; work that takes an `AbortSignal` gets `AbortSignal.timeout`.
 *
 * @returns what `work` resolves to, or `late` if it takes longer than `ms`. Rejects as `work` does.
 */
export async function inTime<Result, Late>(
  work: Promise<Result>,
  ms: number,
  late: Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  try {
    return await Promise.race([work, waited]);
  } finally {
    clearTimeout(timer);
  }
}
