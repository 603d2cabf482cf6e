/**
 * `make bench`: measures the product part by part, each compared with its alternatives in one run. Prints tables and writes
 * them to results.json and README.md beside this file. Pass names to run some parts; `--quick` is only a trial run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { benchmarkAuditIntake } from "./audit-intake.ts";
import { benchmarkAuthzStart } from "./authz-start.ts";
import { benchmarkAwsLambda } from "./aws-lambda.ts";
import { benchmarkCheck } from "./check.ts";
import { benchmarkCompleteState } from "./complete-state.ts";
import { benchmarkCustomers } from "./customers.ts";
import { benchmarkDashboard } from "./dashboard.ts";
import { benchmarkPolicyDiff } from "./policy-diff.ts";
import { benchmarkDoors } from "./doors.ts";
import { quick } from "./effort.ts";
import { benchmarkFeed } from "./feed.ts";
import { benchmarkFilters } from "./filters.ts";
import { benchmarkFlood } from "./flood.ts";
import { benchmarkGateway } from "./gateway.ts";
import { benchmarkGraphql } from "./graphql.ts";
import { benchmarkMasking } from "./masking.ts";
import { benchmarkOverload } from "./overload.ts";
import { benchmarkPauses } from "./pauses.ts";
import { readmeWith } from "./readme.ts";
import { benchmarkPromotion } from "./promotion.ts";
import { benchmarkReplay } from "./replay.ts";
import { benchmarkResponses } from "./responses.ts";
import { tableOf } from "./table.ts";
import { benchmarkRollout } from "./rollout.ts";
import { benchmarkWebhooks } from "./webhooks.ts";
import { benchmarkWebsocket } from "./websocket.ts";

interface Part {
  readonly title: string;
  readonly run: () => Promise<readonly object[]>;
}

const PARTS: Readonly<Record<string, Part>> = {
  check: { title: "One check inside the service, outside grpc-js (microseconds)", run: benchmarkCheck },
  doors: { title: "One check by each door of one worker (microseconds)", run: benchmarkDoors },
  gateway: { title: "Real Envoy, without and with authorization", run: benchmarkGateway },
  filters: { title: "The Lua filters, for requests without a plan", run: benchmarkFilters },
  masking: {
    title: "Masking in Envoy's LuaJIT, and parsing, masking and printing in Node",
    run: benchmarkMasking,
  },
  responses: {
    title: "Responses through the gateway, with and without response rules",
    run: benchmarkResponses,
  },
  websocket: { title: "Round trips of WebSocket messages", run: benchmarkWebsocket },
  graphql: { title: "GraphQL operations (microseconds)", run: benchmarkGraphql },
  pauses: {
    title: "The longest event-loop pauses of a worker, for the worst inputs (milliseconds)",
    run: benchmarkPauses,
  },
  "policy-diff": {
    title: "What a change of a policy set means: two sets of 1,000 rules (milliseconds)",
    run: benchmarkPolicyDiff,
  },
  flood: { title: "A caller with a token beside a flood without one", run: benchmarkFlood },
  overload: { title: "More and more requests in flight", run: benchmarkOverload },
  "aws-lambda": {
    title: "How soon a new process of a Lambda authorizer has answered (milliseconds)",
    run: benchmarkAwsLambda,
  },
  "authz-start": {
    title: "How soon a new `gatehouse authz` permits a request (milliseconds)",
    run: benchmarkAuthzStart,
  },
  "audit-intake": {
    title: "Ingestion of audit records, and COPY of the same rows",
    run: benchmarkAuditIntake,
  },
  customers: { title: "Routes over 1,000,000 customers, and their SQL alone", run: benchmarkCustomers },
  feed: { title: "Sync with many gateways, and the API meanwhile", run: benchmarkFeed },
  "complete-state": {
    title: "The complete state of 1,000,000 customers, for gateways that start",
    run: benchmarkCompleteState,
  },
  dashboard: {
    title: "The dashboard's requests over 10,000,000 decisions and 1,000,000 customers",
    run: benchmarkDashboard,
  },
  webhooks: {
    title: "A healthy webhook and the sandbox, beside a backlog of production deliveries",
    run: benchmarkWebhooks,
  },
  rollout: { title: "A constant load, and a candidate in shadow beside it", run: benchmarkRollout },
  promotion: {
    title: "How soon promotion and rollback are in force at three gateways (milliseconds)",
    run: benchmarkPromotion,
  },
  replay: { title: "Recorded requests that are decided again", run: benchmarkReplay },
};

const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = named.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown benchmark \`${unknown.join(", ")}\`; choose from ${Object.keys(PARTS).join(", ")}\n`,
  );
  process.exit(2);
}

const RESULTS = new URL("./results.json", import.meta.url);
const README = new URL("./README.md", import.meta.url);
const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.versions.node };

for (const name of named.length > 0 ? named : Object.keys(PARTS)) {
  const { title, run } = PARTS[name]!;
  const rows = await run();
  const table = tableOf(rows);
  process.stdout.write(`\n${name}: ${title}\n\n${table}\n`);
  if (quick) continue;
  // other parts keep their last results, because each part only compares its own rows
  const known = JSON.parse(readFileSync(RESULTS, "utf8")) as Record<string, unknown>;
  writeFileSync(RESULTS, `${JSON.stringify({ ...known, machine, [name]: rows }, null, 2)}\n`);
  writeFileSync(README, readmeWith(readFileSync(README, "utf8"), name, table));
}
