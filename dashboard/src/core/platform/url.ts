/** Not reached in the page: no policies of customers apply to an example, and no files are read. */
export function domainToASCII(): never {
  throw new Error("not available in the page");
}
export const domainToUnicode = domainToASCII;
export const fileURLToPath = domainToASCII;
