// A process that uses the embedded server of a data directory until its stdin closes, then leaves in good order.
import { startEmbeddedPostgres } from "../../../src/storage/index.ts";

const [dataDirectory = ""] = process.argv.slice(2);
const log = (message: string) => process.stderr.write(`${message}\n`);
try {
  const server = await startEmbeddedPostgres({
    dataDirectory,
    databases: ["gatehouse"],
    log: { info: log, warn: log },
  });
  const held = { adopted: server.adopted, pid: await server.pid(), url: server.url("gatehouse") };
  process.stdout.write(`${JSON.stringify(held)}\n`);
  process.stdin.resume();
  process.stdin.once("end", () => void server.close());
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`,
  );
  process.exitCode = 1;
}
