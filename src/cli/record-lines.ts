import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { RecordSource } from "./record-source.ts";

/** One line of a file of records, or why it is not one. */
export type RecordLine =
  { readonly line: number; readonly value: unknown } | { readonly line: number; readonly problem: string };

/** Records are at most 64 KiB long. A longer line is skipped without holding it in memory. */
const MAX_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads JSON lines in order, a chunk at a time. Lines count from 1; empty ones are skipped.
 *
 * @param progress - called with the number of bytes of the source that were read
 */
export async function* recordLines(
  { stream: source, isGzip }: RecordSource,
  progress: (bytes: number) => void = () => undefined,
): AsyncGenerator<readonly RecordLine[]> {
  let read = 0;
  source.on("data", (chunk: Buffer) => {
    progress((read += chunk.length));
  });
  // an error of either is an error of the last one
  const stream = isGzip ? pipeline(source, createGunzip(), () => undefined) : source;
  let line = 0;
  let rest: Buffer = Buffer.alloc(0);
  let tooLong = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines: RecordLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const text = chunk.subarray(start, end);
      line++;
      if (tooLong) lines.push({ line, problem: "the line is longer than 1 MiB" });
      else addLine(lines, line, rest.length === 0 ? text : Buffer.concat([rest, text]));
      rest = Buffer.alloc(0);
      tooLong = false;
      start = end + 1;
    }
    if (!tooLong)
      rest = rest.length === 0 ? chunk.subarray(start) : Buffer.concat([rest, chunk.subarray(start)]);
    if (rest.length > MAX_LINE) {
      tooLong = true;
      rest = Buffer.alloc(0);
    }
    yield lines;
  }
  if (rest.length === 0 && !tooLong) return;
  const last: RecordLine[] = [];
  if (tooLong) last.push({ line: line + 1, problem: "the line is longer than 1 MiB" });
  else addLine(last, line + 1, rest);
  yield last;
}

function addLine(lines: RecordLine[], line: number, bytes: Buffer): void {
  const text = bytes.toString("utf8");
  if (text.trim() === "") return;
  try {
    lines.push({ line, value: JSON.parse(text) as unknown });
  } catch {
    lines.push({ line, problem: "not JSON" });
  }
}
