import type { AwsAnswer } from "../../../../src/authorizers/index.ts";

interface Policy {
  readonly policyDocument: {
    readonly Statement: readonly {
      readonly Action: string;
      readonly Effect: string;
      readonly Resource: string;
    }[];
  };
}

/** What API Gateway does with an answer for the request with this ARN: the status for the client, 200 for the application's. */
export function statusFor(answer: AwsAnswer, arn: string): number {
  if (answer.kind === "failure") return answer.message === "Unauthorized" ? 401 : 500;
  if ("isAuthorized" in answer.document) return answer.document.isAuthorized === true ? 200 : 403;
  const { Statement } = (answer.document as Policy).policyDocument;
  const matching = Statement.filter(
    ({ Action, Resource }) => Action === "execute-api:Invoke" && isMatch(Resource, arn),
  );
  if (matching.some(({ Effect }) => Effect === "Deny")) return 403;
  return matching.some(({ Effect }) => Effect === "Allow") ? 200 : 403;
}

/** IAM: `*` is any number of characters, `?` one. */
function isMatch(resource: string, arn: string): boolean {
  const pattern = resource
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "s").test(arn);
}

/** Keeps an answer for every request with the same identity sources, whatever else they ask for. */
export function cached(ask: () => Promise<AwsAnswer>): () => Promise<AwsAnswer> {
  let kept: AwsAnswer | undefined;
  return async () => {
    if (kept !== undefined) return kept;
    const answer = await ask();
    if (answer.kind === "answer") kept = answer;
    return answer;
  };
}
