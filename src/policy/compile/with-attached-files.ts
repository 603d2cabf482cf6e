import { quoted } from "../../text/index.ts";
import type { PolicyFile } from "../diagnostic.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { NamedFile, PolicySetSource } from "../read/index.ts";
import { SourceText } from "../diagnostics/source-text.ts";
import { compileDocuments } from "./compile-documents.ts";
import { compileSchema } from "./compile-schema.ts";
import { placeOf } from "../syntax/place-of.ts";

/** @returns the set with the schema and the documents that it names among `files`; a missing file is reported */
export function withAttachedFiles(
  set: PolicySetSource,
  files: readonly PolicyFile[],
  report: Reporter,
): PolicySetSource {
  const find = (named: NamedFile | undefined): SourceText | undefined => {
    if (named === undefined) return undefined;
    const file = files.find(({ name }) => name === named.file);
    if (file !== undefined) return new SourceText(file);
    report.error(placeOf(named.node), "missing-file", `file not found: ${quoted(named.file)}`);
    return undefined;
  };
  const schema = find(set.head.graphql?.schema);
  const documents = find(set.head.graphql?.persisted);
  const compiled = documents && compileDocuments(documents, report);
  return {
    ...set,
    ...(schema && compileSchema(schema, report)),
    ...(compiled && { documents: compiled }),
  };
}
