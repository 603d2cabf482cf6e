/** @returns what `answer` resolves to, or `late` when it takes too long. Rejects as it does. */
export async function inTime<Answer, Late>(
  answer: Promise<Answer>,
  ms: number,
  late: Late,
): Promise<Answer | Late> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  try {
    return await Promise.race([answer, waited]);
  } finally {
    clearTimeout(timer);
  }
}
