import { customerRoutes } from "../../../src/control/resources/customers/routes.ts";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import type { GatewayChange } from "../../../src/control/platform/gateway-change.ts";
import type { StoredEvent } from "../../../src/control/platform/events.ts";
import { policyRoutes } from "../../../src/control/resources/policies/routes.ts";
import type { StoredChange } from "../../../src/control/platform/unit.ts";
import { FULL_KEY, startControl, type ControlOptions, type RunningControl } from "../../support/control.ts";

/** The API of customers and policies, which remembers what its units have written. */
export interface Management extends RunningControl {
  readonly changes: StoredChange[];
  readonly events: StoredEvent[];
  readonly told: GatewayChange[];
  /** Forgets what was remembered. */
  forget(): void;
  /** Creates a customer. @returns its data */
  customer(body?: object): Promise<{ id: string } & Record<string, unknown>>;
  /** Creates a policy. @returns its data */
  policy(body?: object): Promise<{ id: string } & Record<string, unknown>>;
}

export async function startManagement(options: ControlOptions = {}): Promise<Management> {
  const changes: StoredChange[] = [];
  const events: StoredEvent[] = [];
  const told: GatewayChange[] = [];
  const keep =
    <T>(list: T[]) =>
    (_trx: unknown, added: readonly T[]) => {
      list.push(...added);
      return Promise.resolve();
    };
  const control = await startControl({
    routes: (context) => [...customerRoutes(context), ...policyRoutes(context)],
    ...options,
    writers: {
      changes: keep(changes),
      events: keep(events),
      deliveries: () => Promise.resolve(),
      gateways: async (trx, added) => {
        told.push(...added);
        await appendGatewayChanges(trx, added);
      },
      ...options.writers,
    },
  });
  const create = async (path: string, body: object) => {
    const answer = await control.request("POST", path, { body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body.data as { id: string } & Record<string, unknown>;
  };
  return {
    ...control,
    changes,
    events,
    told,
    forget() {
      for (const list of [changes, events, told]) list.length = 0;
    },
    customer: (body = {}) => create("/customers", { name: "Acme", ...body }),
    policy: (body = {}) =>
      create("/policies", {
        name: "MFA",
        type: "authentication",
        conditions: { mfa_required: true },
        ...body,
      }),
  };
}

/** A key that is limited to one customer. */
export function keyOf(customerId: string, scope: "full_access" | "read_only" = "full_access"): Actor {
  return { ...FULL_KEY, id: `key_of_${customerId}`, scope, customerId };
}

/** The code of an error, and the paths of the fields that it names. */
export function refusal(answer: { readonly status: number; readonly body: unknown }) {
  const { error } = answer.body as {
    error?: { code: string; details: { fields?: { path: string }[] } };
  };
  const fields = error?.details.fields?.map(({ path }) => path);
  return [answer.status, error?.code, ...(fields ?? [])];
}
