import { createHash } from "node:crypto";
import { readGraphqlRequest, type GraphqlRequestRead } from "../../graphql/index.ts";
import type { EvaluationContext } from "./evaluation-context.ts";

/** Reads the operations of a request to an endpoint, as the policy set says. */
export function readOperations({ request, snapshot }: EvaluationContext): GraphqlRequestRead {
  return readGraphqlRequest(request, snapshot.ir.graphql.settings, sha256);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
