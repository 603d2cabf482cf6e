import { createHash } from "node:crypto";
import { readGraphqlRequest, type GraphqlRequestRead } from "../../graphql/index.ts";
import type { GraphqlSettingsIR } from "../../policy/index.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import type { EvaluationContext } from "./evaluation-context.ts";

/** Reads the operations of a request to an endpoint, as the policy set says. */
export function readOperations({
  request,
  snapshot,
  with: { recorded },
}: EvaluationContext): GraphqlRequestRead {
  return recorded?.operations() ?? readGraphql(request, snapshot.ir.graphql.settings);
}

/** Reads the operations of a request, by the settings of a policy set. */
export function readGraphql(request: CanonicalRequest, settings: GraphqlSettingsIR): GraphqlRequestRead {
  return readGraphqlRequest(request, settings, sha256);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
