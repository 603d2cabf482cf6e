import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { watchFile } from "../identity/watch-file.ts";
import { errorMessage } from "../text/index.ts";

/** The key that a gateway shows to the control plane. */
export interface ApiKey {
  readonly current: string;
  /** Looks whether there is another one by now. Never rejects. */
  refresh(): Promise<void>;
  /** Calls `listener` when there is another one. */
  onChange(listener: () => void): void;
  close(): void;
}

interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A file that is being written changes several times at once. */
const SETTLE_MS = 50;

/** A key that stays as it is. @throws TypeError for a text that can be none; the message does not repeat it */
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
 * A key in a file of its own, which is read again when the file changes and when the control plane refuses the key: a new
 * one needs no restart. A file that cannot be read, or holds no key, leaves the last one.
 *
 * @throws where the file cannot be read or holds no key; the message does not repeat what it holds
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
      log.info({ file: path }, "there is another API key for the control plane, which is used from now on");
    } catch (error) {
      const message = errorMessage(error);
      if (message !== problem)
        log.error(
          { file: path, problem: message },
          "the API key cannot be read again; the last one stays in use",
        );
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
 * Anything else would break the header that carries it.
 *
 * @throws TypeError for a text that can be no key; the message does not repeat it
 */
export function assertApiKey(text: string): void {
  if (text === "") throw new TypeError("there is no API key");
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new TypeError("the API key is malformed: a key is one word of ASCII characters");
}
