// A process that uses a test database and a server of its own, and goes on until it is killed.
import { emptyDatabase, privatePostgres } from "../../support/database.ts";

const [shared, own] = await Promise.all([emptyDatabase(), privatePostgres()]);
process.stdout.write(
  `${JSON.stringify({ pid: await own.pid(), folder: own.dataDirectory, url: shared.url })}\n`,
);
setInterval(() => undefined, 1000);
