import { open } from "node:fs/promises";
import { discoverJwksUri } from "./discovery.ts";
import { getJson, type HttpJsonOptions } from "./http-json.ts";
import { isUrl } from "./secure-url.ts";
import { watchFile } from "./watch-file.ts";

/** Where the issuer's keys are read from. */
export interface KeySource {
  /** For logs: says where, and holds no secret. */
  readonly location: string;
  /** Reads the JWK Set anew. Rejects with a message for the log. */
  load(signal: AbortSignal): Promise<unknown>;
  /** Calls back when the source may have changed, as far as it can tell. @returns how to stop. */
  watch(changed: () => void): () => void;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** Chooses the source: a key set's address or file, or else discovery, which is repeated each time. */
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
    throw new Error(`\`${path}\` cannot be opened`, { cause: error });
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
