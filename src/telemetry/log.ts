import { destination as openDestination, pino, type DestinationStream } from "pino";
import { isObject } from "../json/index.ts";
import { sanitize, sanitizeValue } from "../text/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One log line: a message, with its data as fields (an error as `err`). */
export interface LogMethod {
  (fields: object, message: string): void;
  (message: string): void;
}

/** The operator's log, as every room receives it. */
export type Log = Readonly<Record<LogLevel, LogMethod>>;

export interface LogOptions {
  readonly level: LogLevel | "silent";
  /** Name of the process, e.g. `worker-0`. */
  readonly name: string;
  /** Receives one line per call; default: standard error. */
  readonly destination?: DestinationStream;
}

const STDERR = 2;
/** Bytes buffered while nobody reads standard error; more is dropped, because a log must not stop decisions. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_MESSAGE = 4_096;

/**
 * Creates a log that writes JSON lines. Members with names such as `authorization`, `cookie`, `token` or `client_secret`
 * are redacted at any depth, and so are tokens and credentials within any text. Control characters are escaped.
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
  // there is nowhere to report it
  stream.on("error", () => undefined);
  return stream;
}
