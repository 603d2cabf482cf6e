import { open } from "node:fs/promises";
import { discoverJwksUri } from "./discovery.ts";
import { getJson, type HttpJsonOptions } from "./http-json.ts";
import { isUrl } from "./secure-url.ts";
import { watchFile } from "./watch-file.ts";

/** Source of the issuer's keys. */
export interface KeySource {
  /** Description for logs; contains no secret. */
  readonly location: string;
  /** Reads the JWK Set. Rejects with a message for the log. */
  load(signal: AbortSignal): Promise<unknown>;
  /** Calls back when the source may have changed, if it can tell. @returns a function that stops it. */
  watch(changed: () => void): () => void;
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Chooses the source: the address or file of a key set, otherwise discovery, which is repeated each time. */
export function createKeySource(
  { issuer, jwks }: { readonly issuer: string; readonly jwks: string | undefined },
  http: Omit<HttpJsonOptions, "signal">,
): KeySource {
  if (jwks === undefined) {
    return {
      location: issuer,
      load: async (signal) =>
        getJson(await discoverJwksUri(issuer, { ...http, signal }), { ...http, signal }),
      watch: unwatched,
    };
  }
  if (isUrl(jwks)) {
    const url = new URL(jwks);
    return {
      location: `${url.origin}${url.pathname}`,
      load: (signal) => getJson(url, { ...http, signal }),
      watch: unwatched,
    };
  }
  return { location: jwks, load: () => readJsonFile(jwks), watch: (changed) => watchFile(jwks, changed) };
}

function unwatched(): () => void {
  return () => undefined;
}

async function readJsonFile(path: string): Promise<unknown> {
  const file = await open(path).catch((error: unknown) => {
    throw new Error(`cannot open \`${path}\``, { cause: error });
  });
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`\`${path}\` is larger than ${MAX_FILE_BYTES} bytes`);
    return JSON.parse(await file.readFile("utf8")) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`\`${path}\` is not JSON`, { cause: error });
    throw error;
  } finally {
    await file.close();
  }
}
