import { tokenOfConnection, type TokenSources } from "../../identity/index.ts";
import { REASONS, type DenialReason } from "../../reasons.ts";
import { closingFor, UNKNOWN_CONNECTION, type Closing } from "../connections/connection-closing.ts";
import { planTextOf } from "../connections/connection-entry.ts";
import { holderOf } from "../connections/connection-holder.ts";
import type { ConnectionRegistry } from "../connections/connection-registry.ts";
import { isSteady, type DecidedBy } from "../connections/connection-steady.ts";
import { denyPermitted } from "../decide/evaluation-context.ts";
import type { AccessRequest, Decision, Permit } from "../types.ts";
import { carriedPlan, type CarriedPlan } from "./carried-plan.ts";
import type { DecisionPoint } from "./decision-point.ts";

/** What the first message of a connection means for it. */
export type IdentifiedConnection =
  | { readonly result: "identified"; readonly plan: CarriedPlan }
  /** It carries no token, and what was decided at the handshake remains. */
  | { readonly result: "unchanged" }
  | { readonly result: "refused"; readonly closing: Closing };

/**
 * @param decisionId - of the handshake
 * @param text - the message, `connection_init`
 */
export type IdentifyConnection = (decisionId: string, text: string) => Promise<IdentifiedConnection>;

export interface IdentifyConnectionDependencies {
  readonly point: DecisionPoint;
  readonly registry: Pick<ConnectionRegistry, "begin" | "identify" | "refuse" | "isWithinLimit">;
  readonly tokens: TokenSources;
  readonly decidedBy: () => DecidedBy;
  readonly nextDecisionId: () => string;
  /** Time limit for the decision; ms. */
  readonly decisionTimeout: number;
}

interface Beginning {
  /** The decision on its handshake. */
  readonly connection: string;
  readonly access: AccessRequest;
  /** Against whose limit it counts so far. */
  readonly holder: string | undefined;
}

/**
 * @returns the function that decides on a connection again, once its client has said in its first message who it is: with
 *   the handshake as it was, and the token. The decision gets a record of its own. It never rejects
 */
export function createIdentifyConnection({
  point,
  registry,
  tokens,
  decidedBy,
  nextDecisionId,
  decisionTimeout,
}: IdentifyConnectionDependencies): IdentifyConnection {
  /** @returns what the connection is from now on, or why it cannot be that */
  function put(
    permit: Permit,
    { connection, access, holder: before }: Beginning,
  ): CarriedPlan | DenialReason {
    if (permit.plan?.websocket?.graphql === undefined) return "PLAN_NOT_ENFORCEABLE";
    const plan = carriedPlan(permit.plan, permit, connection);
    const holder = holderOf(permit.identity, permit.clientIp);
    if (holder !== before && !registry.isWithinLimit({ holder, access }))
      return "TOO_MANY_CONNECTIONS_OF_USER";
    const problem = registry.identify(connection, {
      access: { ...access, deadline: Number.POSITIVE_INFINITY },
      planText: plan.text,
      expiresAt: plan.expiresAt,
      identity: permit.identity,
      holder,
      held: false,
      steady: isSteady(access, permit, decidedBy()),
    });
    // another set may have decided on the handshake, which was nobody's
    return problem ?? { ...plan, text: planTextOf(plan.text, permit.snapshot?.digest) };
  }

  async function identify(connection: string, text: string): Promise<IdentifiedConnection> {
    const started = performance.now();
    const begun = registry.begin(connection);
    if (begun === undefined) return LOST;
    const ofConnection = tokenOfConnection(text, tokens);
    if (ofConnection.kind === "none" && begun.held !== true) return { result: "unchanged" };
    const at = Date.now();
    const access = { ...begun.access, ofConnection, receivedAt: at, deadline: at + decisionTimeout };
    const conclude = (decision: Decision) =>
      point.conclude(decision, { access, at, decisionId: nextDecisionId() }, access.deadline, started);
    const decided = noting(await point.decide(access), connection);
    const plan =
      decided.verdict === "DENY"
        ? decided.reason
        : put(decided, { connection, access, holder: begun.holder });
    const isDenied = typeof plan === "string";
    const final = await conclude(
      isDenied && decided.verdict === "ALLOW" ? denyPermitted(decided, plan) : decided,
    );
    if (final.verdict === "DENY") return { result: "refused", closing: refusalFor(final.reason) };
    if (isDenied) throw new Error("a denial was permitted");
    return { result: "identified", plan };
  }

  return async (connection, text) => {
    let answer: IdentifiedConnection;
    try {
      answer = await identify(connection, text);
    } catch (error) {
      const { reason } = point.failed(error, undefined);
      answer = { result: "refused", closing: refusalFor(reason) };
    }
    // Envoy closes it by this answer, or if the answer is lost, because of the registry
    if (answer.result === "refused" && answer !== LOST) registry.refuse(connection, answer.closing);
    return answer;
  };
}

const LOST: IdentifiedConnection = { result: "refused", closing: UNKNOWN_CONNECTION };

/** Of graphql-ws: clients ask for another token before they connect again. */
const FORBIDDEN = 4403;

function refusalFor(reason: DenialReason): Closing {
  const { status, code } = REASONS[reason];
  return status >= 500 || status === 429 ? closingFor(reason) : { code: FORBIDDEN, reason: code };
}

/** The record says which decision it continues. */
function noting(decision: Decision, connection: string): Decision {
  const { detail } = decision;
  const what = `connection_init of ${connection}`;
  return { ...decision, detail: detail === undefined ? what : `${detail}; ${what}` };
}
