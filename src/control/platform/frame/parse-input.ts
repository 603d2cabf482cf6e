import type * as z from "zod";
import { ApiError, validationFailed } from "../errors.ts";

/**
 * Parses a part of a request by its schema.
 * @throws ApiError 400, for path, query and headers
 */
export function parseParameters(
  schema: z.ZodType | undefined,
  value: object,
  where: "path" | "query",
): unknown {
  if (schema === undefined) {
    const [name] = where === "query" ? Object.keys(value) : [];
    if (name !== undefined) throw unknownParameter([name]);
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const unknown = parsed.error.issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown !== undefined) throw unknownParameter(unknown.keys);
  const parameters = problems(parsed.error).map(({ path, message }) => ({ parameter: path, message }));
  const [first] = parameters;
  throw new ApiError("INVALID_PARAMETER", {
    message: `the parameter \`${first?.parameter ?? ""}\` of the ${where} is not valid: ${first?.message ?? ""}`,
    details: { parameters },
  });
}

/** @throws ApiError 422, with the path of each field */
export function parseBody(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationFailed(problems(parsed.error));
}

function problems(error: z.ZodError): { path: string; message: string }[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({ path: [...path, key].join("."), message: "is not a known field" }));
    // for a member with an invalid name, the problem with the name
    const messages =
      issue.code === "invalid_key" ? issue.issues.map(({ message }) => message) : [issue.message];
    return messages.map((message) => ({ path: path.join("."), message }));
  });
}

function unknownParameter(names: readonly string[]): ApiError {
  return new ApiError("INVALID_PARAMETER", {
    message: `\`${names.join("`, `")}\` is not a parameter`,
    details: { parameters: names.map((parameter) => ({ parameter, message: "is not a parameter" })) },
  });
}
