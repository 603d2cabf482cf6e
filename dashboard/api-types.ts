import openapiTS, { astToString } from "openapi-typescript";

interface Operation {
  readonly description?: string | undefined;
  readonly summary?: string | undefined;
  readonly responses?: Readonly<Record<string, object>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * TypeScript types of the API from its OpenAPI document: parameters, bodies and what a success holds. All errors have one
 * form, headers are not read by type, and the descriptions are in docs/api.md; without these, the file is a tenth as long.
 */
export async function apiTypes(document: object): Promise<string> {
  const { paths, ...rest } = document as Document;
  const short = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, shortened(operation)]),
      ),
    ]),
  );
  const text = JSON.stringify({ ...rest, paths: short });
  const types = await openapiTS(text, {
    immutable: true,
    excludeDeprecated: false,
    // who sends a body may leave out what has a default
    defaultNonNullable: false,
  });
  return `// Generated from the OpenAPI document of the control plane: \`make docs\`\n${astToString(types)}`;
}

function shortened(operation: Operation): Operation {
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith("2"));
  return {
    ...operation,
    description: undefined,
    summary: undefined,
    responses: Object.fromEntries(
      successes.map(([status, response]) => [status, { ...response, headers: undefined }]),
    ),
  };
}
