import type { Knex } from "knex";
import type { Actor } from "../../platform/actor.ts";
import { createApiKey, revokeApiKey } from "../../resources/api-keys/store.ts";
import type { ControlContext } from "../../platform/context.ts";
import { changeCustomer, createCustomer } from "../../resources/customers/service.ts";
import { lockCustomer, type CustomerRow } from "../../tenancy/customers.ts";
import { newId } from "../../platform/ids.ts";
import type { SigningKey } from "../../sign-in/issuer/keyring.ts";
import { assignPolicies } from "../../resources/policies/assignments.ts";
import { createPolicy } from "../../resources/policies/service.ts";
import { publishAndActivate } from "../../resources/policy-sets/publish-folder.ts";
import type { PublishableSet } from "../../resources/policy-sets/service.ts";
import { readRecord, type RecordFacts } from "../../analytics/records/read-record.ts";
import { Intake } from "../../analytics/records/ingest.ts";
import { ingestStatistics } from "../../analytics/records/ingest-statistics.ts";
import { endSessions } from "../../resources/sessions/end.ts";
import { createUnits, type UnitOfWork, type UnitOrigin } from "../../platform/unit.ts";
import { unitWriters } from "../../unit-writers.ts";
import { createWebhook } from "../../resources/webhooks/service.ts";
import { insertPerson, type PersonRow } from "../people.ts";
import { signInHeadless } from "../sign-in.ts";
import { customers, EVERYWHERE, policies, RETURN_URLS, type SeedCustomer } from "./content.ts";
import { decisionRecords, type SeedCaller } from "./decisions.ts";
import { createRandom } from "./random.ts";
import type { SandboxSeed } from "./types.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long before now the sandbox's history begins, in days. */
export const HISTORY_DAYS = 7;
const DECISIONS = 2_000;
const USER_AGENT = "Mozilla/5.0 (sandbox)";

const ACTOR: Actor = { kind: "system", id: "sandbox", name: "sandbox" };

/** A policy set, and the folder that it was read from. */
export type SeedPolicySet = PublishableSet & { readonly source: string };

/** What has to be made before the transaction. */
export interface Prepared {
  readonly key: SigningKey;
  readonly policySet: SeedPolicySet | undefined;
  /** Of the folder as it was then. */
  readonly fingerprint: string | undefined;
  readonly seed: SandboxSeed;
}

interface Seeded {
  readonly seed: SeedCustomer;
  readonly row: CustomerRow;
  readonly people: readonly PersonRow[];
}

/**
 * Fills an empty sandbox within a transaction: by the code that serves requests, at times of the last seven days, so that
 * every list, count and chart shows what it would after a week of use. The same each time but for ids and times.
 */
export async function insertSeed(
  context: ControlContext,
  trx: Knex.Transaction,
  prepared: Prepared,
): Promise<void> {
  const now = context.clock();
  const start = now - HISTORY_DAYS * DAY_MS + 4 * HOUR_MS;
  /** One unit, as if it were then. */
  const then = <T>(at: number, work: (unit: UnitOfWork) => Promise<T>): Promise<T> => {
    const origin: UnitOrigin = { actor: ACTOR, requestId: newId("request"), clientIp: "127.0.0.1" };
    return createUnits(trx, unitWriters, () => Math.min(at, now))(origin, work);
  };
  const garden: Garden = { context, prepared, now, start, then };

  const seeded: Seeded[] = [];
  for (const [index, seed] of customers(prepared.seed.people ?? []).entries())
    seeded.push(await then(start + index * 60_000, (unit) => plantCustomer(unit, seed)));
  await then(start, (unit) => insertPerson(unit, EVERYWHERE));
  await plantPolicies(garden, seeded);
  await plantIntegrations(garden, seeded);
  const callers = await plantSignIns(garden, seeded);
  await plantDecisions(garden, callers);
  for (const { seed, row } of seeded)
    if (seed.status !== "active") await then(now - DAY_MS, (unit) => enterStatus(unit, row, seed.status));
}

interface Garden {
  readonly context: ControlContext;
  readonly prepared: Prepared;
  readonly now: number;
  readonly start: number;
  readonly then: <T>(at: number, work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;
}

async function plantCustomer(unit: UnitOfWork, seed: SeedCustomer): Promise<Seeded> {
  const row = await createCustomer(unit, {
    name: seed.name,
    external_id: seed.externalId,
    status: "active",
    allowed_return_urls: [...RETURN_URLS],
    metadata: { plan: seed.plan, city: seed.city },
  });
  const people: PersonRow[] = [];
  for (const person of seed.people) people.push(await insertPerson(unit, { ...person, customer_id: row.id }));
  return { seed, row, people };
}

async function enterStatus(
  unit: UnitOfWork,
  { id }: CustomerRow,
  status: CustomerRow["status"],
): Promise<void> {
  await changeCustomer(unit, await lockCustomer(unit.trx, ACTOR, id), { status });
}

async function plantPolicies({ prepared, start, then }: Garden, seeded: readonly Seeded[]): Promise<void> {
  const { policySet } = prepared;
  if (policySet !== undefined)
    // as from its folder: the next start finds it published, and leaves what was activated since
    await then(start + HOUR_MS, (unit) => publishAndActivate(unit, policySet, policySet.source));
  const made = await then(start + 2 * HOUR_MS, async (unit) => {
    const ids = new Map<string, string>();
    for (const policy of policies(policySet?.name))
      ids.set(policy.name, (await createPolicy(unit, policy)).id);
    return ids;
  });
  await then(start + 3 * HOUR_MS, async (unit) => {
    for (const { seed, row } of seeded) {
      const ids = seed.policies.flatMap((name) => made.get(name) ?? []);
      if (ids.length > 0) await assignPolicies(unit, await lockCustomer(unit.trx, ACTOR, row.id), ids);
    }
  });
}

/** Disabled and revoked: nothing is sent anywhere, and nobody knows the key. */
async function plantIntegrations({ context, start, then }: Garden, seeded: readonly Seeded[]): Promise<void> {
  const { box, settings } = context;
  await then(start + 4 * HOUR_MS, async (unit) => {
    const common = { url: "https://receiver.example/gatehouse", enabled: false } as const;
    await createWebhook(unit, box, {
      ...common,
      description: "An example: enable it with an address of your own",
      events: ["*"],
      customer_id: null,
    });
    const [first] = seeded;
    if (first === undefined) return;
    await createWebhook(unit, box, {
      ...common,
      description: `What happens at ${first.row.name}`,
      events: ["user.authenticated", "policy.violated"],
      customer_id: first.row.id,
    });
    const { environment } = settings;
    const key = { environment, name: "An example", scope: "read_only", customerId: first.row.id } as const;
    const { row } = await createApiKey(unit, key);
    await revokeApiKey(unit, row.id);
  });
}

/** Everybody has signed in several times, some of them in vain; the last time not long ago. @returns who came in */
async function plantSignIns(
  { context, prepared, now, start, then }: Garden,
  seeded: readonly Seeded[],
): Promise<SeedCaller[]> {
  const random = createRandom(1);
  const callers = new Map<string, SeedCaller>();
  for (const { seed, row, people } of seeded) {
    const suspendedAt = seed.status === "active" ? undefined : now - DAY_MS;
    for (const person of people) {
      for (const at of signInTimes(start, suspendedAt ?? now, random)) {
        const answer = await then(at, (unit) =>
          signInHeadless(context, unit, prepared.key, {
            customerId: row.id,
            subject: person.id,
            person,
            clientIp: `198.51.100.${1 + Math.floor(random() * 200)}`,
            userAgent: USER_AGENT,
          }),
        );
        if (answer.kind !== "data") continue;
        const { user, session } = answer.data as { user: { id: string }; session: { id: string } };
        const caller = { id: user.id, customerId: row.id, role: person.role };
        callers.set(user.id, { ...caller, ...(suspendedAt !== undefined && { suspendedAt }) });
        // most go home without a word; some sessions end with their customer
        if (suspendedAt === undefined && random() < 0.4)
          await then(at + HOUR_MS, (unit) => endSessions(unit, { sessionId: session.id }, "logout"));
      }
    }
  }
  return [...callers.values()];
}

/** On several mornings, and some hours before the end. */
function signInTimes(start: number, end: number, random: () => number): readonly number[] {
  const morning = start + 6 * HOUR_MS;
  const days = [0, 2, 5].map((day) => morning + day * DAY_MS + Math.floor(random() * 4 * HOUR_MS));
  const last = end - Math.floor((2 + random()) * HOUR_MS);
  return [...days.filter((at) => at < last), last];
}

/** A day at a time, as gateways tell them. */
async function plantDecisions(
  { context, prepared, now, start, then }: Garden,
  callers: readonly SeedCaller[],
): Promise<void> {
  const [first, ...others] = callers;
  if (first === undefined) return;
  const { policySet } = prepared;
  const records = decisionRecords({
    callers: [first, ...others],
    count: DECISIONS,
    from: start + 6 * HOUR_MS,
    to: now,
    policySet: [
      policySet === undefined ? "default@v1" : `${policySet.name}@${policySet.version}`,
      policySet?.digest ?? "",
    ],
    random: createRandom(2),
  });
  const facts = records.map(factsOf);
  const intake = new Intake(context);
  for (let from = start, sequence = 1; from < now; from += DAY_MS, sequence += 1) {
    const to = Math.min(from + DAY_MS, now);
    const today = facts.filter(({ row }) => row.timestamp >= from && row.timestamp < to);
    await then(to, async (unit) => {
      const batch = { receivedAt: unit.now, records: today, rejected: [] };
      await intake.take(unit, batch, { ingestedBy: ACTOR.id, gateway: "sandbox" });
      await ingestStatistics(unit, statisticsOf(sequence, from, to, today.length), {
        now: to,
        since: from,
        until: to,
      });
    });
  }
}

function factsOf(record: object): RecordFacts {
  const facts = readRecord(record);
  if (typeof facts === "string") throw new Error(`a record of the sandbox is not one: ${facts}`);
  return facts;
}

function statisticsOf(sequence: number, from: number, to: number, decided: number) {
  const cache = (name: string, share: number) => {
    const hits = Math.round(decided * share);
    return { name, hits, misses: decided - hits, evictions: Math.round(decided * 0.01) };
  };
  return {
    instance: "sandbox",
    sequence,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    caches: [cache("decisions", 0.93), cache("tokens", 0.96), cache("users", 0.9)],
    audit: { decided, recorded: decided, dropped: 0 },
  };
}
