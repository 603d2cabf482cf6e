import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

type Row = Readonly<Record<string, string | number>>;

export const SIZING_PAGE = fileURLToPath(new URL("../../../docs/operations/sizing.md", import.meta.url));

const results = JSON.parse(
  readFileSync(new URL("../../../bench/results.json", import.meta.url), "utf8"),
) as Readonly<Record<string, readonly Row[]>>;

/** A figure of the benchmarks: the row of which part, and which of its columns. */
interface Measured {
  readonly what: string;
  readonly part: string;
  readonly row: Row;
  readonly column: string;
  readonly unit: string;
}

const TABLES: Readonly<Record<string, readonly Measured[]>> = {
  gateway: [
    {
      what: "requests with a token, allowed, 1,000 rules, 64 connections",
      ...{ part: "gateway", row: { setup: "gateway: JWT, rules, audit; allowed" } },
      ...{ column: "requests_per_second", unit: "per second" },
    },
    {
      what: "the same, denied",
      ...{ part: "gateway", row: { setup: "gateway: the same; denied" } },
      ...{ column: "requests_per_second", unit: "per second" },
    },
    {
      what: "CPU time of Envoy and workers per allowed request, 1,000 connections",
      ...{ part: "overload", row: { in_flight: "1000, HTTP/1.1" }, column: "cpu_us", unit: "µs" },
    },
    {
      what: "CPU time of a worker per check, 10,000 rules",
      ...{ part: "check", row: { rules: 10_000 }, column: "whole_check_allowed", unit: "µs" },
    },
    {
      what: "time that masking takes of an Envoy thread, for a response of 1 MB",
      ...{ part: "masking", row: { document: "1 MB" }, column: "lua_in_envoy_ms", unit: "ms" },
    },
    {
      what: "most memory of a process that holds the state of a million customers",
      ...{ part: "complete-state", row: { gateways: 1 }, column: "gateway_memory_mb", unit: "MB" },
    },
    {
      what: "time until it has received that state",
      ...{ part: "complete-state", row: { gateways: 1 }, column: "seconds", unit: "s" },
    },
    {
      what: "from the start of `gatehouse authz` to the first permit, 1,000 rules",
      ...{ part: "authz-start", row: { rules: 1_000 }, column: "first_permit_ms", unit: "ms" },
    },
  ],
  "control-plane": [
    {
      what: "records of gateways, 400 per request, four requests at once",
      ...{ part: "audit-intake", row: { way: "POST /gateway/records", batch: 400, at_once: 4 } },
      ...{ column: "records_per_second", unit: "per second" },
    },
    {
      what: "from a change until 1,000 followers have it, p99",
      ...{ part: "feed", row: { code: "this", followers: 1_000 }, column: "change_p99_ms", unit: "ms" },
    },
    {
      what: "from a logout until 1,000 followers have it, p99",
      ...{ part: "feed", row: { code: "this", followers: 1_000 }, column: "logout_p99_ms", unit: "ms" },
    },
    {
      what: "reads of one customer of a million, 16 connections",
      ...{ part: "customers", row: { request: "read", connections: 16 }, column: "per_second" },
      unit: "per second",
    },
    {
      what: "from an event to the arrival of its webhook, p99",
      ...{ part: "webhooks", row: { waiting: 0 }, column: "delivery_p99_ms", unit: "ms" },
    },
    {
      what: "the same beside 50,000 deliveries to a receiver that never answers, p99",
      ...{
        part: "webhooks",
        row: { their_receiver: "never answers" },
        column: "delivery_p99_ms",
        unit: "ms",
      },
    },
  ],
};

/** The page as it is, with the tables that the last benchmarks give. */
export function sizingPage(): string {
  return Object.entries(TABLES).reduce(
    (text, [name, rows]) => {
      const place = new RegExp(`(<!-- ${name} -->\n).*?(<!-- end -->)`, "s");
      assert.match(text, place);
      return text.replace(place, (_, begin: string, end: string) => `${begin}\n${table(rows)}\n${end}`);
    },
    readFileSync(SIZING_PAGE, "utf8"),
  );
}

function table(rows: readonly Measured[]): string {
  const lines = rows.map(({ what, part, row, column, unit }) => {
    const key = Object.entries(row)
      .map(([name, value]) => `${name} = ${value}`)
      .join(", ");
    return `| ${what} | ${figure(part, row, column)} ${unit} | \`${part}\`: ${key}; ${column} |`;
  });
  return ["| | measured | part, row and column |", "| --- | --- | --- |", ...lines, ""].join("\n");
}

function figure(part: string, row: Row, column: string): string {
  const found = (results[part] ?? []).filter((one) =>
    Object.entries(row).every(([name, value]) => one[name] === value),
  );
  assert.equal(found.length, 1, `${part} has one row ${JSON.stringify(row)}`);
  const value = found[0]?.[column];
  assert.equal(typeof value, "number", `${part} has the column ${column}`);
  return Number(Number(value).toPrecision(3)).toLocaleString("en");
}
