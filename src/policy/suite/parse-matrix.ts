import { counted } from "../../text/index.ts";
import { readChoice, readFields, readItems } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parsePerson, withCustomer } from "./parse-actor.ts";
import { positionOf, readName, type ParseContext } from "./parse-context.ts";
import { parseHeaders, parseRequestLine } from "./parse-request.ts";
import { parseCaseAttributes } from "./parse-case-attributes.ts";
import { readEntries } from "./read-value.ts";
import { VERDICTS, type SuiteCase } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

const KEYS = ["name", "people", "requests", "headers", "customer", "attributes", "env"];

/**
 * Reads one entry of `matrix`: one column per person, one row per request, and the expectation in each cell.
 * @param room the number of cases that the file may still have
 */
export function parseMatrix(node: YamlNode, context: ParseContext, room: number): readonly SuiteCase[] {
  const { report } = context;
  const fields = readFields(report, node, "a table", KEYS);
  if (fields === undefined) return [];
  const name = readName(fields, context);
  const peopleNode = fields.require("people");
  const columns = peopleNode === undefined ? [] : readItems(report, peopleNode, "`people`");
  const rows = readEntries(report, fields.require("requests"), "`requests`");
  if (columns.length * rows.length > room) {
    const message = "the matrix has more cases than a file may have";
    report.error(placeOf(node), "too-many-cases", message, "split it into several files");
    return [];
  }

  const actors = columns.map((column) => ({
    label: column.kind === "scalar" ? column.text : "",
    actor: withCustomer(parsePerson(column, context), fields.get("customer"), report),
  }));
  const caseAttributes = parseCaseAttributes(fields, report);
  const headers = parseHeaders(fields.get("headers"), report);

  return rows.flatMap(({ key, value }) => {
    const request = { ...parseRequestLine(key, report), headers };
    const cells = readItems(report, value, "a row");
    if (value.kind === "sequence" && cells.length !== columns.length) {
      const message = `the row has ${counted(cells.length, "cell")}, but the matrix has ${counted(columns.length, "column")}`;
      report.error(placeOf(value), "wrong-length", message);
    }
    return actors.flatMap(({ label, actor }, index): SuiteCase[] => {
      const cell = cells[index];
      const decision = cell && readChoice(report, cell, "a cell", VERDICTS);
      if (cell === undefined || decision === undefined) return [];
      return [
        {
          name: `${name}: ${label}, ${key.text}`,
          at: positionOf(cell),
          input: { request, ...actor, ...caseAttributes },
          expected: { decision },
        },
      ];
    });
  });
}
