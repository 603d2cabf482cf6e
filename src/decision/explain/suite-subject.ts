import { UNAVAILABLE, type PolicySetIR } from "../../policy/evaluation.ts";
import {
  conditionsOf,
  type SuiteAnswer,
  type SuiteDecision,
  type SuiteDelivery,
  type SuiteInput,
  type SuiteSubject,
  type SampleAnswer,
} from "../../policy/suite/index.ts";
import { createSnapshot, type Snapshot } from "../policies/snapshot.ts";
import { explainAnswer, explainOffline, type ExplainedDecision } from "./explain-offline.ts";
import { decideOffline } from "./offline.ts";
import { openConnection } from "./offline-connection.ts";
import { createRawRequest, wireText } from "./raw-request.ts";
import { renderExplanation } from "./render-explanation.ts";

/** @returns a policy set for suites to test: every case is decided as the gateway would decide it. */
export function createSuiteSubject(ir: PolicySetIR): SuiteSubject {
  const snapshot = createSnapshot(ir, { caseSensitive: false });
  return { conditions: conditionsOf(ir), decide: (input) => decide(snapshot, input) };
}

async function decide(snapshot: Snapshot, input: SuiteInput): Promise<SuiteDecision> {
  const { request, user, customer, attributes, env } = input;
  const [endpoint = "/graphql"] = snapshot.ir.graphql.settings.paths;
  const raw = createRawRequest({
    method: request.method,
    target: request.path ?? endpoint,
    headers: request.headers.map(([name, value]) => [name, wireText(value)]),
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
  });
  const offline = await decideOffline(snapshot, {
    raw: { ...raw, ...(request.host !== undefined && { host: wireText(request.host) }) },
    ...(user && { user }),
    ...(customer && { customer }),
    lookup(root) {
      const found = Object.hasOwn(attributes, root) ? attributes[root] : undefined;
      if (found === UNAVAILABLE) throw new Error(`${root} is unavailable in this test`);
      return found;
    },
    now: env.time === undefined ? Date.now() : Date.parse(env.time),
    ...(env.environment !== undefined && { environment: env.environment }),
    ...(request.clientIp !== undefined && { clientIp: request.clientIp }),
  });
  const explained = await explainOffline(offline);
  const { decision, explanation, evaluated } = explained;
  const connection = await openConnection(offline);
  return {
    decision: decision.verdict === "ALLOW" ? "allow" : "deny",
    reason: decision.reason,
    rules: decidingRules(explained),
    denied: explanation.operation?.denied.map(({ path }) => path) ?? [],
    evaluated,
    explanation: renderExplanation(decision, explanation),
    answer: (sample) => answer(explained, sample),
    message(direction, text): SuiteDelivery {
      if (connection === undefined)
        throw new Error("the request opens no connection whose messages are inspected");
      const { delivered, code, rule, evaluated } = connection.message(direction, text);
      return {
        ...(delivered !== undefined && { text: delivered }),
        reason: code,
        ...(rule && { rule: rule.id }),
        evaluated,
      };
    },
  };
}

function answer(explained: ExplainedDecision, sample: SampleAnswer): SuiteAnswer {
  const { outcome, evaluated } = explainAnswer(explained, sample);
  return outcome.ok
    ? { text: outcome.text, masked: outcome.paths, evaluated }
    : { reason: outcome.reason, masked: [], evaluated };
}

/** The rule of the path or connection; for an operation every rule that denied it, or else every rule that permitted it. */
function decidingRules({ decision, explanation: { operation } }: ExplainedDecision): readonly string[] {
  const rule = decision.connection ?? decision.rule;
  const own = rule === undefined ? [] : [rule.id];
  if (operation === undefined) return own;
  const denying = operation.denied.flatMap(({ rule }) => rule ?? []);
  const asked = operation.rules.map(({ rule }) => rule.id);
  if (decision.verdict === "DENY") return [...new Set(denying)];
  return [...new Set([...own, ...asked])];
}
