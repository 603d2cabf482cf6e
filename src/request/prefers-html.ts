/** More than any browser sends; the rest is ignored. */
const MAX_RANGES = 50;
const MAX_LENGTH = 2_000;

/**
 * Content negotiation (RFC 9110, section 12.5.1) between an HTML page and JSON.
 *
 * @param accept - the values of the Accept header, if any
 * @returns true if HTML is preferred to JSON; at equal weight (a wildcard, no header) JSON wins
 */
export function prefersHtml(accept: readonly string[] | undefined): boolean {
  if (accept === undefined) return false;
  const text = accept.join(",").toLowerCase();
  // The common case for API clients: no need to parse it.
  if (text.length > MAX_LENGTH || !text.includes("text/")) return false;
  const html = { weight: 0, specificity: -1 };
  const json = { weight: 0, specificity: -1 };
  for (const range of split(text, ",").slice(0, MAX_RANGES)) {
    const [type = "", ...parameters] = split(range, ";");
    const weight = weightOf(parameters);
    if (weight === undefined) continue;
    const name = type.trim();
    note(html, specificity(name, "text/html", "text/*"), weight);
    note(json, specificity(name, "application/json", "application/*"), weight);
  }
  return html.weight > json.weight;
}

/** Splits at a separator outside quoted strings (section 5.6.4). */
function split(text: string, separator: "," | ";"): readonly string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (quoted && character === "\\") index += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Section 12.5.1: the most specific range that matches counts. */
function specificity(range: string, exact: string, subtypes: string): number {
  if (range === exact) return 2;
  if (range === subtypes) return 1;
  return range === "*/*" ? 0 : -1;
}

function note(best: { weight: number; specificity: number }, specific: number, weight: number): void {
  if (specific < 0 || specific < best.specificity) return;
  best.weight = specific === best.specificity ? Math.max(best.weight, weight) : weight;
  best.specificity = specific;
}

/** Section 12.4.2: 0 to 1 with up to three decimals, 1 by default; `undefined` if malformed. */
function weightOf(parameters: readonly string[]): number | undefined {
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim() !== "q") continue;
    const text = value.trim();
    return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : undefined;
  }
  return 1;
}
