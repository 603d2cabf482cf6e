/** `make bench`: what one check costs, and what the gateway adds to Envoy. Prints tables, writes JSON beside this file. */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { benchmarkGateway } from "./gateway.ts";
import { benchmarkCheck } from "./check.ts";
import { printTable } from "./table.ts";

const parts = process.argv.slice(2);
const wanted = (part: string) => parts.length === 0 || parts.includes(part);
const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.versions.node };
const result: Record<string, unknown> = { machine };

if (wanted("check")) {
  const rows = await benchmarkCheck();
  printTable("One check inside the service, outside grpc-js (microseconds)", rows);
  result["check"] = rows;
}
if (wanted("gateway")) {
  const rows = await benchmarkGateway();
  printTable("Real Envoy, one run: the limit without authorization, and with it", rows);
  result["gateway"] = rows;
}
writeFileSync(new URL("./results.json", import.meta.url), `${JSON.stringify(result, null, 2)}\n`);
