import { crc32 } from "node:zlib";
import type { Request, Response } from "express";
import { meta } from "./envelope.ts";
import { requestIdOf } from "./request-id.ts";

/**
 * `data` of an answer as JSON, for any number of answers. The code that creates it has already applied the route's
 * schema.
 */
export interface SerializedData {
  readonly json: Buffer;
  /** The same, compressed, for clients that accept it. */
  readonly gzip?: Buffer;
}

const HEAD = '{"success":true,"data":';

/** Sends data in the envelope. All answers share the bytes of the data, which are never copied. */
export function sendSerialized(data: SerializedData, request: Request, response: Response, now: Date): void {
  const tail = `,"meta":${JSON.stringify(meta(requestIdOf(response), now))}}`;
  const gzip = request.acceptsEncodings("gzip") === "gzip" ? data.gzip : undefined;
  // a file of several members decodes to the concatenation of their contents (RFC 1952, section 2.2)
  const parts =
    gzip !== undefined
      ? [storedMember(Buffer.from(HEAD)), gzip, storedMember(Buffer.from(tail))]
      : [Buffer.from(HEAD), data.json, Buffer.from(tail)];
  response.statusCode = 200;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.setHeader(
    "content-length",
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  if (data.gzip !== undefined) response.setHeader("vary", "accept-encoding");
  if (gzip !== undefined) response.setHeader("content-encoding", "gzip");
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
}

const MEMBER_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** A gzip member of one stored block (RFC 1952; RFC 1951, section 3.2.4): setting up a compressor costs more than it saves. */
function storedMember(bytes: Buffer): Buffer {
  const block = Buffer.alloc(5);
  block.writeUInt8(1, 0);
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(~bytes.length & 0xffff, 3);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([MEMBER_HEADER, block, bytes, trailer]);
}
