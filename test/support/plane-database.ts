import { join } from "node:path";
import { closeDatabase, openDatabase, provideDatabases, type Database } from "../../src/storage/index.ts";
import type { ControlPlaneProcess } from "./control-plane.ts";

const quiet = { info: () => undefined, warn: () => undefined };

/** The embedded production database of a control plane, opened beside it. */
export async function withPlaneDatabase<T>(
  { directory }: Pick<ControlPlaneProcess, "directory">,
  work: (db: Database, url: string) => Promise<T>,
): Promise<T> {
  const databases = await provideDatabases({ dataDirectory: join(directory, "data") }, ["production"], quiet);
  const url = databases.url("production");
  const db = openDatabase(url, { poolSize: 4, statementTimeoutMs: 0 });
  try {
    return await work(db, url);
  } finally {
    await closeDatabase(db);
    await databases.close();
  }
}
