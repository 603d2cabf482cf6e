import type { GraphqlErrorIR } from "../policy/index.ts";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
}

/** @returns refusals and denials as entries of a GraphQL response's `errors` (GraphQL, section 7.1.2) */
export function graphqlErrors(failures: readonly Failure[]): GraphqlErrorIR[] {
  return failures.map(({ message, path, code }) => ({
    message,
    ...(path && { path }),
    extensions: { code },
  }));
}

/** @returns the body of the response to a request that is not executed: `data` is absent (GraphQL, section 7.1) */
export function graphqlErrorBody(failures: readonly Failure[]): string {
  return JSON.stringify({ errors: graphqlErrors(failures) });
}
