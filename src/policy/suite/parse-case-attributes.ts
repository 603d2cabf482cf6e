import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { readFields, readString, type Fields } from "../read/reader.ts";
import { BASE_ROOTS } from "../roots.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { UNAVAILABLE, type ValueObject } from "../value.ts";
import { readEntries, readObject } from "./read-value.ts";
import type { SuiteInput } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Everything about a case besides the request and its sender. */
export type CaseAttributes = Pick<SuiteInput, "attributes" | "env">;

/** Reads `attributes` and `env` of a test or a matrix. */
export function parseCaseAttributes(fields: Fields, report: Reporter): CaseAttributes {
  return {
    attributes: parseAttributes(fields.get("attributes"), report),
    env: parseEnvironment(fields.get("env"), report),
  };
}

function parseAttributes(node: YamlNode | undefined, report: Reporter): SuiteInput["attributes"] {
  const roots = readEntries(report, node, "`attributes`").map(({ key, value }) => {
    const root = key.text;
    if (BASE_ROOTS.includes(root)) {
      report.error(placeOf(key), "reserved-name", `${quoted(root)} is not a looked-up attribute`);
    }
    if (value.kind === "scalar" && value.value === "unavailable") return [root, UNAVAILABLE] as const;
    return [root, readObject(report, value, quoted(root)) ?? {}] as const;
  });
  return Object.fromEntries<ValueObject | typeof UNAVAILABLE>(roots);
}

function parseEnvironment(node: YamlNode | undefined, report: Reporter): SuiteInput["env"] {
  const fields = node && readFields(report, node, "`env`", ["time", "environment"]);
  const timeNode = fields?.get("time");
  const time = timeNode && readString(report, timeNode, "`time`")?.text;
  const environmentNode = fields?.get("environment");
  const environment = environmentNode && readString(report, environmentNode, "`environment`")?.text;
  if (timeNode !== undefined && time !== undefined && !isTime(time)) {
    const message = `${quoted(time)} is not a time`;
    report.error(placeOf(timeNode), "invalid-time", message, "write it like `2026-01-31T23:59:59Z`");
  }
  return { ...(time !== undefined && { time }), ...(environment !== undefined && { environment }) };
}

/** The form of `env.time`: RFC 3339 in UTC with whole seconds, on a date that exists. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text.replace("Z", ".000Z");
}
