import type { SegmentIR } from "../policy/ir.ts";

/** What of a rule decides whether its requests' bodies are handed to the service. */
export interface BodyRoute {
  /** An HTTP method in capitals, or `*`. */
  readonly method: string;
  readonly segments: readonly SegmentIR[];
}

/**
 * A regular expression (RE2, whole path without query) for every spelling of the paths that the segments match: each
 * byte stands for itself or is percent-encoded. It may match more, which hands over a body in vain, but never less.
 */
export function pathExpression(segments: readonly SegmentIR[]): string {
  const rest = segments.at(-1)?.kind === "rest";
  const parts = (rest ? segments.slice(0, -1) : segments).map((segment) => `/${segmentExpression(segment)}`);
  return `${parts.join("")}${rest ? "(?:/.*)?" : "/?"}`;
}

function segmentExpression(segment: SegmentIR): string {
  return segment.kind === "literal" ? [...Buffer.from(segment.value)].map(byteExpression).join("") : "[^/]+";
}

function byteExpression(byte: number): string {
  const encoded = `%${byte.toString(16).padStart(2, "0").replaceAll(/[a-f]/g, eitherCase)}`;
  const isVisibleAscii = byte > 0x20 && byte < 0x7f;
  if (!isVisibleAscii) return encoded;
  const plain = String.fromCharCode(byte).replaceAll(/[^A-Za-z0-9]/g, String.raw`\$&`);
  return `(?:${plain}|${encoded})`;
}

function eitherCase(digit: string): string {
  return `[${digit}${digit.toUpperCase()}]`;
}
