// `gatehouse migrate` with the places that the first parameter names.
import { ExitError } from "../../../src/cli/exit.ts";
import { migrateCommand } from "../../../src/cli/migrate.ts";
import type { DatabaseLocation } from "../../../src/storage/index.ts";

const [location = "{}", ...rest] = process.argv.slice(2);
try {
  await migrateCommand(() => JSON.parse(location) as DatabaseLocation).parseAsync(rest, { from: "user" });
} catch (error) {
  if (!(error instanceof ExitError)) throw error;
  if (error.message !== "") process.stderr.write(`${error.message}\n`);
  process.exitCode = error.code;
}
