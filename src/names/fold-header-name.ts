/**
 * A header name as the most lenient application reads it: only letters and digits, in lower case. CGI (RFC 3875, section
 * 4.1.18), WSGI and PHP turn `-` into `_`, several servers do so with every other character too, and some frameworks
 * drop them.
 */
export function foldHeaderName(name: string): string {
  let folded = "";
  let start = 0;
  for (let index = 0; index < name.length; index += 1) {
    if (isLetterOrDigit(name.charCodeAt(index))) continue;
    folded += name.slice(start, index);
    start = index + 1;
  }
  return (start === 0 ? name : folded + name.slice(start)).toLowerCase();
}

/** ASCII only: a header name contains nothing else (RFC 9110, section 5.1). */
export function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);
}
