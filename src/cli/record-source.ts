import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { connectionFailure } from "../identity/connection-failure.ts";
import { isUrl, secureUrl } from "../identity/secure-url.ts";

/** Where records are read from: a file, or an https address. */
export interface RecordSource {
  /** As it was given; an address without its query, which may be signed. */
  readonly name: string;
  /** In bytes; `undefined` if an address does not tell. */
  readonly size: number | undefined;
  readonly isGzip: boolean;
  readonly stream: Readable;
}

const CHUNK = 1024 * 1024;

/**
 * Opens a source of JSON lines. Redirects of an address are not followed, because the key is meant for that address alone.
 *
 * @param location - a file, or an https address (http on loopback)
 * @param apiKey - sent as a bearer token to an address
 * @throws Error that says what is wrong with it
 */
export async function openRecords(location: string, apiKey?: string): Promise<RecordSource> {
  if (isUrl(location)) return fetchRecords(secureUrl("--records", location), apiKey);
  const { size } = await stat(location);
  const stream = createReadStream(location, { highWaterMark: CHUNK });
  return { name: location, size, isGzip: location.endsWith(".gz"), stream };
}

async function fetchRecords(url: URL, apiKey: string | undefined): Promise<RecordSource> {
  const name = `${url.origin}${url.pathname}`;
  const headers = {
    accept: "application/x-ndjson, */*;q=0.1",
    // lines are read as they are, so that the size is known and nothing is decompressed twice
    "accept-encoding": "identity",
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  let response: Response;
  try {
    response = await fetch(url, { redirect: "manual", headers });
  } catch (error) {
    throw new Error(connectionFailure(error, url) ?? "the request failed", { cause: error });
  }
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}${HINTS[response.status] ?? ""}`);
  }
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  const isEncoded = response.headers.has("content-encoding");
  return {
    name,
    size: Number.isSafeInteger(length) && !isEncoded ? length : undefined,
    // otherwise fetch has decompressed it
    isGzip: url.pathname.endsWith(".gz") && !isEncoded,
    stream: Readable.fromWeb(response.body, { highWaterMark: CHUNK }),
  };
}

const HINTS: Readonly<Record<number, string>> = {
  401: ": the key is missing or not valid (--api-key-file)",
  403: ": the key must not read this",
  404: ": there is nothing at this address",
};
