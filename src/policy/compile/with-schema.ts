import { quoted } from "../../text/index.ts";
import type { PolicyFile } from "../diagnostic.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { PolicySetSource } from "../read/index.ts";
import { SourceText } from "../diagnostics/source-text.ts";
import { compileSchema } from "./compile-schema.ts";
import { placeOf } from "../syntax/place-of.ts";

/** @returns the set with the schema that it names among `files`; a missing file is reported */
export function withSchema(
  set: PolicySetSource,
  files: readonly PolicyFile[],
  report: Reporter,
): PolicySetSource {
  const named = set.head.graphql?.schema;
  if (named === undefined) return set;
  const file = files.find(({ name }) => name === named.file);
  if (file === undefined) {
    report.error(placeOf(named.node), "missing-file", `file not found: ${quoted(named.file)}`);
    return set;
  }
  return { ...set, ...compileSchema(new SourceText(file), report) };
}
