/**
 * GraphQL operations over HTTP: a request to its operations, and those to a verdict. Pure; see README.md.
 */
export { graphqlErrorBody, graphqlErrors } from "./errors.ts";
export { evaluateGraphql } from "./evaluate.ts";
export { evaluateEvent, isCompleteResult, type EventVerdict } from "./evaluate-event.ts";
export { GRAPHQL } from "./refusals.ts";
export { readJson } from "./read-json.ts";
export { readPayload } from "./read-payload.ts";
export {
  carriesNoOperation,
  readGraphqlRequest,
  refuseOperationIn,
  type GraphqlRequestRead,
} from "./read-request.ts";
export { LEFT_OUT_ARGUMENT, skeletonOf } from "./skeleton.ts";
export { MAX_DENIALS, GraphqlRefusal } from "./types.ts";
export type {
  GraphqlDenial,
  GraphqlEvent,
  GraphqlPayload,
  GraphqlRefused,
  GraphqlRequest,
  GraphqlVerdict,
  InputObject,
  InputValue,
  EvaluatedRule,
  EvaluationOptions,
  OperationKind,
} from "./types.ts";
