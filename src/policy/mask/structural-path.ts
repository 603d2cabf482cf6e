/** The path of a change, for audit records: `$.customers[*].ssn`. Contains names, never values. */
export const ROOT_PATH = "$";

const MAX_BYTES = 200;
/** Ends a truncated path. */
const CUT = "…";
const CUT_BYTES = 3;

/** A member of the value at `path`. */
export function memberPath(path: string, name: string): string {
  const written = name.toWellFormed();
  return extended(path, /^[A-Za-z_$][\w$-]*$/.test(written) ? `.${written}` : `[${JSON.stringify(written)}]`);
}

/** All elements of the array at `path`. */
export function elementsPath(path: string): string {
  return extended(path, "[*]");
}

/** A truncated path is not changed further. Truncation never splits a character. */
function extended(path: string, step: string): string {
  if (path.endsWith(CUT) && bytesOf(path) >= MAX_BYTES - CUT_BYTES) return path;
  const whole = path + step;
  return bytesOf(whole) <= MAX_BYTES ? whole : `${cutTo(whole, MAX_BYTES - CUT_BYTES)}${CUT}`;
}

function cutTo(text: string, bytes: number): string {
  let kept = "";
  for (const character of text) {
    bytes -= bytesOf(character);
    if (bytes < 0) break;
    kept += character;
  }
  return kept;
}

/** Bytes of well-formed text in UTF-8. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
