import assert from "node:assert/strict";
import { QueuedAuditLog } from "../../../../src/audit/audit-log.ts";
import { createDecisionIds } from "../../../../src/audit/index.ts";
import type { OpenConnections } from "../../../../src/decision/connections/open-connections.ts";
import { createForgedHeaders } from "../../../../src/decision/headers/forged-headers.ts";
import { createIdentityHeaders } from "../../../../src/decision/headers/identity-headers.ts";
import {
  DecisionPoint,
  GIVEN_UP,
  serveDoor,
  type Door,
  type DoorCall,
  type ServingDependencies,
} from "../../../../src/decision/point/index.ts";
import type { AuditRecord } from "../../../../src/protocol/record.ts";
import { createMetrics } from "../../../../src/telemetry/metrics.ts";
import { FaultyDestination } from "../../../audit/support/fault.ts";
import { memoryLog } from "../../../audit/support/records.ts";
import { deciderOf, never, silentLog, type useIssuer } from "../../support.ts";
import { POLICIES } from "./door-fixtures.ts";

/** What differs from the usual around a door. */
export interface DoorWorld {
  readonly serving?: Partial<ServingDependencies>;
  readonly policies?: typeof POLICIES;
  readonly audit?: (audit: QueuedAuditLog, destination: FaultyDestination) => void;
  readonly point?: (point: DecisionPoint) => void;
}

/** Serves doors over real parts; only the destination of records is in memory. Their audit logs close after each test. */
export function useServedDoors(idp: ReturnType<typeof useIssuer>) {
  const open: { readonly audit: QueuedAuditLog; readonly destination: FaultyDestination }[] = [];
  afterEach(async () => {
    for (const { audit, destination } of open.splice(0)) {
      destination.broken = undefined;
      await audit.close();
    }
  });

  return <Message, Answer>(
    door: Door<Message, Answer>,
    { serving = {}, policies = POLICIES, audit: change, point: bend }: DoorWorld = {},
  ) => {
    const metrics = createMetrics();
    const destination = new FaultyDestination();
    const options = { level: "info", queueSize: 100, queueBytes: 2 ** 20, closeTimeout: 50 } as const;
    const audit = new QueuedAuditLog(options, { destination, metrics, log: memoryLog() });
    const log: string[] = [];
    const withdrawn: string[] = [];
    change?.(audit, destination);
    open.push({ audit, destination });
    const point = new DecisionPoint({
      decide: deciderOf(policies, { verifier: idp.verifier }),
      snapshot: () => policies,
      audit,
      metrics,
      log: { error: (_context, message) => log.push(message) },
    });
    bend?.(point);
    const connections: OpenConnections = {
      add: () => undefined,
      slotOf: () => undefined,
      withdraw: (id) => void withdrawn.push(id),
      hasLeft: () => false,
    };
    const dependencies: ServingDependencies = {
      point,
      connections,
      identityHeaders: createIdentityHeaders([["x-user-id", ["user", "id"]]]),
      forgedHeaders: createForgedHeaders({ names: ["x-user-id"], prefixes: ["x-user-"], accepted: [] }),
      denialDetails: "reason",
      cors: () => policies.cors,
      tracing: { span: () => ({ recording: false, end: () => undefined }), shutdown: never },
      nextDecisionId: createDecisionIds(),
      log: silentLog,
      ...serving,
    };
    const serve = serveDoor(door, dependencies);
    const answerTo = async (
      message: Message,
      call: Partial<DoorCall> = {},
    ): Promise<Answer | typeof GIVEN_UP> => serve(message, { deadline: Number.POSITIVE_INFINITY, ...call });
    const ask = async (message: Message, call?: Partial<DoorCall>): Promise<Answer> => {
      const answer = await answerTo(message, call);
      assert.ok(answer !== GIVEN_UP);
      return answer;
    };
    /** The records so far, each as `DENY INTERNAL_ERROR`. */
    const recorded = async () => {
      await audit.flush();
      return destination.lines.map((line) => {
        const { decision, reason } = JSON.parse(line) as AuditRecord;
        return `${decision} ${reason}`;
      });
    };
    return { ask, answerTo, recorded, log, withdrawn, metrics, dependencies };
  };
}
