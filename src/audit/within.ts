/** Whether `promise` resolved within `ms`, and with something else than false. Never keeps the process. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then((value) => value !== false), late]);
  } finally {
    clearTimeout(timer);
  }
}
