import type { Encoder } from "../../decision/point/index.ts";
import { REASONS } from "../../reasons.ts";
import { FORWARDING } from "../sub-request.ts";
import { readArn } from "./arn.ts";
import { isSimple } from "./decode.ts";
import type { AwsEvent } from "./event.ts";
import type { AwsSettings } from "./settings.ts";

/** What was decided, before it takes the form that the authorizer needs. */
export type AwsVerdict =
  | {
      readonly permitted: true;
      readonly principal: string;
      readonly context: Readonly<Record<string, string>>;
      readonly usageIdentifierKey?: string;
    }
  | { readonly permitted: false; readonly status: number; readonly code: string };

/** An authorizer's answer: a JSON document, or that it fails with this message. */
export type AwsAnswer =
  | { readonly kind: "answer"; readonly document: object }
  | { readonly kind: "failure"; readonly message: string };

/** API Gateway answers a client with 401 if the function fails with exactly this. */
const UNAUTHORIZED: AwsAnswer = { kind: "failure", message: "Unauthorized" };

/** API Gateway answers a client with 500, and keeps no such answer. */
export const FAILED: AwsAnswer = { kind: "failure", message: "no decision" };

/** For callers without an identity; the policy needs a name. */
const NOBODY = "anonymous";

export function verdictEncoder(
  usageIdentifierHeader: AwsSettings["usageIdentifierHeader"],
): Encoder<AwsVerdict> {
  return {
    permit: ({ identity }, _check, { headers, plan }) => {
      if (plan !== undefined) throw new Error("a plan cannot be sent to an authorizer");
      // the integration has those from API Gateway
      const ours = headers.set.filter(([name]) => !FORWARDING.has(name));
      const usage = ours.find(([name]) => name === usageIdentifierHeader)?.[1];
      return {
        permitted: true,
        principal: identity === undefined || identity.userId === "" ? NOBODY : identity.userId,
        context: Object.fromEntries(
          ours
            .filter(([name]) => name !== usageIdentifierHeader)
            .map(([name, value]) => [contextKey(name), value]),
        ),
        ...(usage !== undefined && { usageIdentifierKey: usage }),
      };
    },
    denial: ({ reason }, _check, { status }) => ({ permitted: false, status, code: REASONS[reason].code }),
    lastResort: { permitted: false, status: 500, code: REASONS.INTERNAL_ERROR.code },
  };
}

/** `x-user-id` is `x_user_id`: mapping templates cannot name a member with a hyphen. */
function contextKey(header: string): string {
  return header.replaceAll("-", "_");
}

/**
 * The answer to an event that could be decided.
 *
 * @param event - the one that was decided on; it never fails for one that was permitted
 */
export function answerOf(verdict: AwsVerdict, event: AwsEvent, settings: AwsSettings): AwsAnswer {
  if (!verdict.permitted) {
    const { status, code } = verdict;
    // only REST APIs are known to understand it
    if (status === 401 && (event.form === "token" || event.form === "rest")) return UNAUTHORIZED;
    return answer(isSimple(event, settings), "Deny", event, { principal: NOBODY, context: { error: code } });
  }
  return answer(isSimple(event, settings), "Allow", event, verdict);
}

function answer(
  simple: boolean,
  effect: "Allow" | "Deny",
  { arn }: AwsEvent,
  {
    principal,
    context,
    usageIdentifierKey,
  }: {
    readonly principal: string;
    readonly context: Readonly<Record<string, string>>;
    readonly usageIdentifierKey?: string;
  },
): AwsAnswer {
  if (simple) return { kind: "answer", document: { isAuthorized: effect === "Allow", context } };
  const Statement = [{ Action: "execute-api:Invoke", Effect: effect, Resource: readArn(arn).text }];
  return {
    kind: "answer",
    document: {
      principalId: principal,
      policyDocument: { Version: "2012-10-17", Statement },
      context,
      ...(usageIdentifierKey !== undefined && { usageIdentifierKey }),
    },
  };
}
