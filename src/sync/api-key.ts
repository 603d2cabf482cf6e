import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { watchFile } from "../identity/watch-file.ts";
import { errorMessage } from "../text/index.ts";

/** The API key that a gateway presents to the control plane. */
export interface ApiKey {
  readonly current: string;
  /** Checks whether the key has changed. Never rejects. */
  refresh(): Promise<void>;
  /** Calls `listener` when the key has changed. */
  onChange(listener: () => void): void;
  close(): void;
}

interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writing a file causes several change events at once. */
const SETTLE_MS = 50;

/** A fixed key. @throws TypeError if the text cannot be a key; the message does not contain it */
export function fixedApiKey(text: string): ApiKey {
  assertApiKey(text);
  return {
    current: text,
    refresh: () => Promise.resolve(),
    onChange: () => undefined,
    close: () => undefined,
  };
}

/**
 * A key in its own file, which is read again when the file changes and when the control plane refuses the key, so that a new
 * key needs no restart. If the file is not readable or contains no key, the last one stays in use.
 *
 * @throws if the file is not readable or contains no key; the message does not contain its content
 */
export function apiKeyInFile(path: string, log: Log): ApiKey {
  let current = readFileSync(path, "utf8").trim();
  assertApiKey(current);
  const listeners: (() => void)[] = [];
  let problem: string | undefined;
  let settling: NodeJS.Timeout | undefined;
  const refresh = async () => {
    try {
      const text = (await readFile(path, "utf8")).trim();
      assertApiKey(text);
      problem = undefined;
      if (text === current) return;
      current = text;
      log.info({ file: path }, "new API key for the control plane loaded");
    } catch (error) {
      const message = errorMessage(error);
      if (message !== problem)
        log.error({ file: path, problem: message }, "could not reload the API key; keeping the last one");
      problem = message;
      return;
    }
    for (const listener of listeners) listener();
  };
  const stopWatching = watchFile(path, () => {
    clearTimeout(settling);
    settling = setTimeout(() => void refresh(), SETTLE_MS).unref();
  });
  return {
    get current() {
      return current;
    },
    refresh,
    onChange: (listener) => void listeners.push(listener),
    close() {
      clearTimeout(settling);
      stopWatching();
      listeners.length = 0;
    },
  };
}

/**
 * Checks that the text can be sent in a header.
 *
 * @throws TypeError if the text cannot be a key; the message does not contain it
 */
export function assertApiKey(text: string): void {
  if (text === "") throw new TypeError("the API key is empty");
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new TypeError("the API key is malformed: it must be one word of ASCII characters");
}
