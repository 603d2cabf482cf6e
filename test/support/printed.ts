/** @returns what is written to stdout while `work` is done, which then is not shown */
export async function printedBy(work: () => Promise<unknown>): Promise<string> {
  const write = process.stdout.write.bind(process.stdout);
  let printed = "";
  process.stdout.write = (text: string | Uint8Array) => {
    printed += String(text);
    return true;
  };
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
  return printed;
}
