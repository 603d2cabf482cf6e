import { detailOf } from "./detail-of.ts";
import type { PolicySetIR } from "../../policy/evaluation.ts";
import type { SampleAnswer } from "../../policy/suite/index.ts";
import { REASONS, type ProxyReason } from "../../reasons.ts";
import type { RawRequest } from "../../request/index.ts";
import { decidingRule } from "../decide/deciding-rule.ts";
import { createSnapshot } from "../policies/snapshot.ts";
import {
  explainAnswer,
  explainOffline,
  type ExplainedAnswer,
  type ExplainedDecision,
} from "./explain-offline.ts";
import { receive, type GatewaySettings } from "./gateway-settings.ts";
import type { Direction, ExplainedMessage } from "./message-verdict.ts";
import { decideOffline, type OfflineRequest } from "./offline.ts";
import { openConnection } from "./offline-connection.ts";
import { renderAnswer, renderDelivery, renderExplanation } from "./render-explanation.ts";

/** A request as a client sends it, with all that it leads to. */
export interface Exchange extends Omit<OfflineRequest, "raw" | "settings" | "clientIp"> {
  readonly sent: RawRequest;
  readonly clientIp: string;
  /** The application's response. */
  readonly answer?: SampleAnswer;
  /** What client and server send after a handshake, in order. */
  readonly messages: readonly { readonly direction: Direction; readonly text: string }[];
}

/** Envoy refused the request before the service, so there are no rules to explain. */
interface RefusedByEnvoy {
  readonly kind: "refused";
  readonly reason: ProxyReason;
  readonly detail: string;
}

/** What becomes of an exchange, and why. */
export type ExplainedExchange =
  | RefusedByEnvoy
  | {
      readonly kind: "decided";
      readonly explained: ExplainedDecision;
      readonly answer?: ExplainedAnswer;
      readonly messages: readonly ExplainedMessage[];
    };

/**
 * Decides a request as a gateway with these settings would, and explains it. `policy explain` and the dashboard both show the
 * result.
 *
 * @throws UnsupportedSample if the sample response is one that only a gateway can evaluate
 */
export async function explainExchange(
  ir: PolicySetIR,
  gateway: GatewaySettings,
  { sent, answer, messages, ...about }: Exchange,
): Promise<ExplainedExchange> {
  const through = receive(sent, gateway, about.clientIp);
  if (!through.ok) return { kind: "refused", reason: through.reason, detail: through.detail };
  const snapshot = createSnapshot(ir, { caseSensitive: gateway.caseSensitive });
  const offline = await decideOffline(snapshot, {
    ...about,
    raw: through.raw,
    settings: gateway.decisions,
  });
  const explained = await explainOffline(offline);
  const isAllowed = offline.decision.verdict === "ALLOW";
  const connection = await openConnection(offline);
  return {
    kind: "decided",
    explained,
    ...(answer && isAllowed && { answer: explainAnswer(explained, answer) }),
    messages: messages.flatMap(({ direction, text }) => connection?.message(direction, text) ?? []),
  };
}

/** The explanation as `policy explain --json` prints it. */
export function plainExplanation(exchange: ExplainedExchange) {
  if (exchange.kind === "refused") {
    const { reason, detail } = exchange;
    const { status } = REASONS[reason];
    return { decision: "DENY" as const, reason, status, detail, decided_by: null, near: [], fields: [] };
  }
  const { explained, answer, messages } = exchange;
  const { decision, explanation } = explained;
  const { verdict, reason, accepted } = decision;
  const detail = detailOf(decision);
  return {
    ...{ decision: verdict, reason, status: REASONS[reason].status, detail },
    ...(accepted.length > 0 && { accepted_ambiguities: accepted }),
    decided_by: decidingRule(decision)?.id ?? null,
    ...explanation,
    ...(answer && { answer: { ...answer.outcome, fields: answer.fields } }),
    ...(messages.length > 0 && { messages: messages.map(({ evaluated, ...message }) => message) }),
  };
}
export type PlainExplanation = ReturnType<typeof plainExplanation>;

/** The explanation as `policy explain` prints it for people. */
export function renderExchange(exchange: ExplainedExchange): string {
  if (exchange.kind === "refused") {
    const { reason, detail } = exchange;
    const { status, message } = REASONS[reason];
    return `DENY (${status}) ${reason}: ${message} (${detail})\nrefused by Envoy before any rule was evaluated\n`;
  }
  const { explained, answer, messages } = exchange;
  return [
    renderExplanation(explained.decision, explained.explanation),
    ...(answer ? [renderAnswer(answer)] : []),
    ...messages.map(renderDelivery),
  ].join("\n");
}
