// A process that migrates a database with the migrations of a folder, and says what it has applied.
import { closeDatabase, migrate, openDatabase } from "../../../src/storage/index.ts";

const [url = "", folder = ""] = process.argv.slice(2);
const db = openDatabase(url, { poolSize: 1 });
const { applied } = await migrate(db, { folder });
await closeDatabase(db);
process.stdout.write(JSON.stringify(applied));
