import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import type { EmbeddedPostgres, StorageLog } from "./embedded-postgres.ts";

/** The location of the databases: a URL for each external one; the others are in the data directory. */
export interface DatabaseLocation {
  /** Production. */
  readonly url?: string;
  readonly sandboxUrl?: string;
  readonly dataDirectory: string;
}

export type DatabaseEnvironment = "production" | "sandbox";

export interface ProvidedDatabases {
  /** Contains a password. */
  url(environment: DatabaseEnvironment): string;
  /** Stops the embedded server if no other process uses it. Close all pools first. */
  close(): Promise<void>;
}

/** The names of the embedded databases; both are created together, whichever is requested. */
const EMBEDDED: Readonly<Record<DatabaseEnvironment, string>> = {
  production: "gatehouse_production",
  sandbox: "gatehouse_sandbox",
};

/**
 * Provides the databases of the requested environments: those with a URL as configured, the others in the embedded PostgreSQL,
 * which is started unless it is already running.
 *
 * @param options - `create`: whether missing embedded databases are created (default)
 * @throws Error if production and sandbox are the same database, because a reset of the sandbox would empty production.
 */
export async function provideDatabases(
  location: DatabaseLocation,
  wanted: readonly DatabaseEnvironment[],
  log: StorageLog,
  { create = true }: { readonly create?: boolean } = {},
): Promise<ProvidedDatabases> {
  const urls = { production: location.url, sandbox: location.sandboxUrl };
  if (urls.production !== undefined && urls.sandbox !== undefined && isSame(urls.production, urls.sandbox)) {
    throw new Error("production and sandbox use the same database; configure a separate one for the sandbox");
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
      if (url === undefined) throw new Error(`the ${environment} database was not requested`);
      return url;
    },
    close: async () => embedded?.close(),
  };
}

/** Identifies the server and database, regardless of user and options. */
function isSame(one: string, other: string): boolean {
  const place = (text: string): string => {
    const { hostname, port, pathname, searchParams } = new URL(text);
    return JSON.stringify([searchParams.get("host") ?? hostname, port === "" ? "5432" : port, pathname]);
  };
  return place(one) === place(other);
}
