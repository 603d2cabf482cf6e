import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import type { EmbeddedPostgres, StorageLog } from "./embedded-postgres.ts";

/** Where the databases are: a URL for each that is on a server, the others in the data directory. */
export interface DatabaseLocation {
  /** Production. */
  readonly url?: string;
  readonly sandboxUrl?: string;
  readonly dataDirectory: string;
}

export type DatabaseEnvironment = "production" | "sandbox";

export interface ProvidedDatabases {
  /** Holds a password. */
  url(environment: DatabaseEnvironment): string;
  /** Stops the embedded server when no other process uses it. Pools are to be closed before. */
  close(): Promise<void>;
}

/** The names of the embedded databases; both are made at once, whichever is wanted. */
const EMBEDDED: Readonly<Record<DatabaseEnvironment, string>> = {
  production: "gatehouse_production",
  sandbox: "gatehouse_sandbox",
};

/**
 * Provides the databases of the environments that are wanted: those that have a URL as they are, the others by the
 * embedded PostgreSQL, which is started or found running.
 *
 * @param options - `create`: whether embedded databases that are not there are made (default)
 * @throws Error when production and sandbox are one database: a reset of the sandbox would empty production.
 */
export async function provideDatabases(
  location: DatabaseLocation,
  wanted: readonly DatabaseEnvironment[],
  log: StorageLog,
  { create = true }: { readonly create?: boolean } = {},
): Promise<ProvidedDatabases> {
  const urls = { production: location.url, sandbox: location.sandboxUrl };
  if (urls.production !== undefined && urls.sandbox !== undefined && isSame(urls.production, urls.sandbox)) {
    throw new Error("production and sandbox have the same database; give the sandbox one of its own");
  }
  let embedded: EmbeddedPostgres | undefined;
  if (wanted.some((environment) => urls[environment] === undefined)) {
    const { dataDirectory } = location;
    embedded = await startEmbeddedPostgres({
      dataDirectory,
      databases: Object.values(EMBEDDED),
      log,
      create,
    });
  }
  return {
    url(environment) {
      const url = urls[environment] ?? embedded?.url(EMBEDDED[environment]);
      if (url === undefined) throw new Error(`the ${environment} database was not asked for`);
      return url;
    },
    close: async () => embedded?.close(),
  };
}

/** The same server and database, whoever connects and however. */
function isSame(one: string, other: string): boolean {
  const place = (text: string): string => {
    const { hostname, port, pathname, searchParams } = new URL(text);
    return JSON.stringify([searchParams.get("host") ?? hostname, port === "" ? "5432" : port, pathname]);
  };
  return place(one) === place(other);
}
