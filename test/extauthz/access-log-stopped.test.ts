import assert from "node:assert/strict";
import { createAccessLog, type RequestOutcome } from "../../src/extauthz/access-log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { message, type EntryParts } from "./support/access-logs.ts";

const MASKED = '{"response":{"result":"masked","count":1,"paths":["$.ssn"]}}';

async function outcomesOf(...entries: readonly EntryParts[]) {
  const outcomes: RequestOutcome[] = [];
  const metrics = createMetrics();
  createAccessLog({
    onOutcome: (outcome) => outcomes.push(outcome),
    onRefusal: () => assert.fail("it was decided"),
    metrics,
    log: { error: (_, text) => assert.fail(text) },
  })(message(...entries));
  const { values } = await metrics.accessLogSkipped.get();
  return {
    outcomes,
    skipped: Object.fromEntries(values.map(({ labels, value }) => [String(labels.cause), value])) as Record<
      string,
      number
    >,
  };
}

describe("extauthz: access log, of allows that came to nothing in Envoy", () => {
  const gone = { response_code: undefined, response_code_details: "downstream_remote_disconnect" };
  const large = { response_code: { value: 413 }, response_code_details: "request_payload_too_large" };
  const final = { final: true };
  const request = { request_id: "req_1" };
  const there = { upstream_remote_address: { socket_address: { address: "192.0.2.1", port_value: 4 } } };
  const common = { response_flags: { downstream_connection_termination: true } };
  const denied = { response_flags: { unauthorized_details: { reason: 1 } } };
  const said = ({ outcomes }: Awaited<ReturnType<typeof outcomesOf>>) =>
    outcomes.map((one) => [
      one.decisionId,
      one.requestId,
      one.event === "response" && `${one.response.result} ${one.response.reason}`,
    ]);

  it("have an outcome with the reason", async () => {
    assert.deepEqual(
      said(
        await outcomesOf(
          { decision: final, request, common, response: gone },
          { decision: final, request, response: large },
          { decision: { ...final, decision_id: "dec_1" }, request, common, response: gone },
          // whatever Lua made of Envoy's own answer
          { noted: { decision_id: "dec_2", outcome: MASKED }, decision: final, request, response: large },
        ),
      ),
      [
        ["", "req_1", "not_forwarded CLIENT_GONE"],
        ["", "req_1", "not_forwarded REQUEST_TOO_LARGE"],
        ["dec_1", "req_1", "not_forwarded CLIENT_GONE"],
        ["dec_2", "req_1", "not_forwarded REQUEST_TOO_LARGE"],
      ],
    );
  });

  it("are neither what was sent on, nor what was denied", async () => {
    const forbidden = { response_code: { value: 403 }, response_code_details: "ext_authz_denied" };
    const { outcomes, skipped } = await outcomesOf(
      { decision: final, common: there, response: gone },
      { decision: final, response: forbidden },
      { decision: final, common: denied, response: gone },
    );
    assert.deepEqual([outcomes, skipped], [[], { no_plan: 3 }]);
  });
});
