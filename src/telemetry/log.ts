import { destination as openDestination, pino, type DestinationStream } from "pino";
import { isObject } from "../json/index.ts";
import { sanitize, sanitizeValue } from "../text/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One line: a message, and what belongs to it as fields (an error as `err`). */
export interface LogMethod {
  (fields: object, message: string): void;
  (message: string): void;
}

/** The operator's log, as every room takes it. */
export type Log = Readonly<Record<LogLevel, LogMethod>>;

export interface LogOptions {
  readonly level: LogLevel | "silent";
  /** Which process it is, e.g. `worker-0`. */
  readonly name: string;
  /** Takes one line a call; standard error when absent. */
  readonly destination?: DestinationStream;
}

const STDERR = 2;
/** What waits for a standard error that nobody reads; more is dropped, for a log must not stop decisions. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_MESSAGE = 4_096;

/**
 * Makes a log that writes JSON lines. Members with names such as `authorization`, `cookie`, `token` or `client_secret`
 * are hidden at any depth, and so are tokens and credentials within any text, control characters are spelled out.
 */
export function createLog(options: LogOptions): Log {
  const { level, name } = options;
  const settings = { level, name, serializers: { err: (error: unknown) => error } };
  const logger = pino(settings, options.destination ?? standardError());

  function method(level: LogLevel): LogMethod {
    return (first: object | string, message?: string): void => {
      if (!logger.isLevelEnabled(level)) return;
      if (typeof first === "string") logger[level](sanitize(first, MAX_MESSAGE));
      else logger[level](asFields(sanitizeValue(first)), sanitize(message ?? "", MAX_MESSAGE));
    };
  }

  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}

function asFields(value: unknown): object {
  return isObject(value) ? value : { fields: value };
}

function standardError(): DestinationStream {
  const stream = openDestination({ dest: STDERR, sync: false, maxLength: MAX_WAITING_BYTES });
  // nobody could be told
  stream.on("error", () => undefined);
  return stream;
}
