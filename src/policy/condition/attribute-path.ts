import type { AttributePath } from "../ir.ts";

/** A name after a dot, or any other in brackets and quotes; without escapes, which no name needs. */
const STEP = /\.([A-Za-z_]\w*)|\["([^"\\]*)"\]/y;
const ROOT = /^[A-Za-z_]\w*/;

/**
 * Reads a path as conditions write it (`request.headers["x-team"]`), without the parser of conditions, which workers do not
 * load. Header names are in lower case, as in compiled conditions.
 *
 * @returns `undefined` if the text is not a path
 */
export function parseAttributePath(text: string): AttributePath | undefined {
  const root = ROOT.exec(text)?.[0];
  if (root === undefined) return undefined;
  const path = [root];
  STEP.lastIndex = root.length;
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text);
    if (step === null) return undefined;
    const name = step[1] ?? step[2] ?? "";
    const isHeader = path.length === 2 && path[0] === "request" && path[1] === "headers";
    path.push(isHeader ? name.toLowerCase() : name);
  }
  return path;
}
