import knex from "knex";
import { errorCode } from "../runtime/error-code.ts";

/** By SQLSTATE (PostgreSQL, appendix A) or by the operating system's name of an error. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the database refuses connections",
  ENOENT: "the database's socket is not there",
  ENOTFOUND: "cannot resolve the database's host",
  EAI_AGAIN: "cannot resolve the database's host",
  ECONNRESET: "the database broke off the connection",
  EPIPE: "the database broke off the connection",
  ETIMEDOUT: "the database does not answer",
  EHOSTUNREACH: "there is no route to the database",
  ENETUNREACH: "there is no route to the database",
  "28P01": "the database refuses the user or its password",
  "28000": "the database refuses the user or its password",
  "3D000": "the database does not exist",
  "53300": "the database takes no more connections",
  "57P01": "the database is shutting down",
  "57P02": "the database is starting again after a crash",
  "57P03": "the database is starting or shutting down",
  "25P03": "the database ended a transaction that it heard nothing of",
  "57014": "the database did not answer in time",
};

/**
 * @returns why a database cannot be used, in words for anybody who may ask: neither its address nor a user's name. The log has
 *   the rest.
 */
export function databaseFailure(error: unknown): string {
  if (!(error instanceof Error)) return "the database cannot be used";
  if (error instanceof knex.KnexTimeoutError) return "no connection to the database became free in time";
  const code = errorCode(error);
  if (code !== undefined) return WORDS[code] ?? `the database cannot be used (${code})`;
  // a host name with several addresses fails with all their errors together
  if (error instanceof AggregateError && error.errors.length > 0) return databaseFailure(error.errors[0]);
  if (/timeout expired/i.test(error.message)) return "the database does not answer";
  return "the connection to the database broke off";
}
