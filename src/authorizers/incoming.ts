import type { IncomingMessage } from "node:http";

export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return headers["content-length"] !== undefined && headers["content-length"] !== "0";
}

/** @param raw - names and values in turn, as Node has them */
export function pairs(raw: readonly string[]): (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    found.push([(raw[index] ?? "").toLowerCase(), raw[index + 1] ?? ""]);
  return found;
}

/** @returns the whole body; `undefined` if it is larger */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // read to the end nevertheless: a client that is still sending would not see the answer
    if (size <= mostBytes) chunks.push(chunk);
  }
  return size <= mostBytes ? Buffer.concat(chunks) : undefined;
}
