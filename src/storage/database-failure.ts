import knex from "knex";
import { errorCode } from "../runtime/error-code.ts";

/** By SQLSTATE (PostgreSQL, appendix A), or by the operating system's error code. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the database refused the connection",
  ENOENT: "the database's socket does not exist",
  ENOTFOUND: "cannot resolve the database's host",
  EAI_AGAIN: "cannot resolve the database's host",
  ECONNRESET: "the database closed the connection",
  EPIPE: "the database closed the connection",
  ETIMEDOUT: "the database did not respond",
  EHOSTUNREACH: "no route to the database",
  ENETUNREACH: "no route to the database",
  "28P01": "the database rejected the user or the password",
  "28000": "the database rejected the user or the password",
  "3D000": "the database does not exist",
  "53300": "the database has no connections left",
  "57P01": "the database is shutting down",
  "57P02": "the database is restarting after a crash",
  "57P03": "the database is starting or shutting down",
  "25P03": "the database ended a transaction because it was idle",
  "57014": "the database did not respond in time",
};

/**
 * @returns why a database is not usable, in words that anybody may see, without its address or a user name; the log has
 *   the details
 */
export function databaseFailure(error: unknown): string {
  if (!(error instanceof Error)) return "the database is not usable";
  if (error instanceof knex.KnexTimeoutError) return "timed out waiting for a database connection";
  const code = errorCode(error);
  if (code !== undefined) return WORDS[code] ?? `the database is not usable (${code})`;
  // a host name with several addresses fails with all their errors together
  if (error instanceof AggregateError && error.errors.length > 0) return databaseFailure(error.errors[0]);
  if (/timeout expired/i.test(error.message)) return "the database did not respond";
  return "the connection to the database was lost";
}
