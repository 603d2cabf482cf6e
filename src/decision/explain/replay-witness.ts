import type { RuleChange, Witness } from "../../policy/analyze/index.ts";
import { isList, isObject, type JsonObject } from "../../json/index.ts";
import { UNAVAILABLE } from "../../policy/index.ts";
import type { SuiteDecision, SuiteInput, SuiteSubject } from "../../policy/suite/index.ts";

/** What both sets decide on an example. */
export interface ReplayedWitness extends Witness {
  readonly input: SuiteInput;
  readonly before: SuiteDecision;
  readonly after: SuiteDecision;
}

/** A change whose examples of requests were decided by both sets. */
export interface ReplayedChange extends Omit<RuleChange, "gained" | "lost"> {
  readonly gained?: Witness | ReplayedWitness;
  readonly lost?: Witness | ReplayedWitness;
}

/**
 * Decides the examples of a change as the gateway would. An example of a request on which the sets do not differ as
 * claimed is removed, and the change is undecided.
 */
export async function replayChange(
  change: RuleChange,
  before: SuiteSubject,
  after: SuiteSubject,
): Promise<ReplayedChange> {
  const { gained, lost, ...rest } = change;
  const more = await replayed(gained, before, after, { before: "deny", after: "allow" });
  const less = await replayed(lost, before, after, { before: "allow", after: "deny" });
  const unconfirmed = [more, less].includes(UNCONFIRMED);
  return {
    ...rest,
    ...(unconfirmed && {
      change: "undecided",
      notes: [...change.notes, "an example was found, but no request confirms it"],
    }),
    ...(typeof more === "object" && { gained: more }),
    ...(typeof less === "object" && { lost: less }),
  };
}

const UNCONFIRMED = "unconfirmed";

async function replayed(
  witness: Witness | undefined,
  before: SuiteSubject,
  after: SuiteSubject,
  expected: { readonly before: string; readonly after: string },
): Promise<Witness | ReplayedWitness | typeof UNCONFIRMED | undefined> {
  // what is not about a request was evaluated when it was found
  if (witness?.segments === undefined) return witness;
  const input = inputOf(witness);
  const [old, now] = [await before.decide(input), await after.decide(input)];
  if (old.decision !== expected.before || now.decision !== expected.after) return UNCONFIRMED;
  return { ...witness, input, before: old, after: now };
}

const KNOWN = new Set(["user", "customer", "path", "request", "env"]);

function inputOf({ attributes, method = "GET", segments = [] }: Witness): SuiteInput {
  const request = objectOf(attributes["request"]);
  const user = attributes["user"] === undefined ? undefined : objectOf(attributes["user"]);
  const customer = attributes["customer"] === undefined ? undefined : objectOf(attributes["customer"]);
  const host = request["host"];
  const clientIp = request["client_ip"];
  return {
    request: {
      method,
      path: `/${segments.map(encodeURIComponent).join("/")}${queryOf(objectOf(request["query"]))}`,
      headers: pairsOf(objectOf(request["headers"])),
      ...(typeof host === "string" && { host }),
      ...(typeof clientIp === "string" && { clientIp }),
      ...(request["body"] !== undefined && { body: request["body"] }),
    },
    // only a signed-in caller has a customer
    ...((user ?? customer) && { user: { id: "user-1", ...user } }),
    ...(customer && { customer }),
    attributes: Object.fromEntries(
      Object.entries(attributes).flatMap(([root, value]) =>
        KNOWN.has(root) ? [] : [[root, value === UNAVAILABLE ? UNAVAILABLE : objectOf(value)] as const],
      ),
    ),
    env: environmentOf(objectOf(attributes["env"])),
  };
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function pairsOf(values: JsonObject): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, all]) =>
    isList(all)
      ? all.flatMap((value): [string, string][] => (typeof value === "string" ? [[name, value]] : []))
      : [],
  );
}

function queryOf(values: JsonObject): string {
  const pairs = pairsOf(values).map((pair) => pair.map(encodeURIComponent).join("="));
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** A time with these members of `env`. */
function environmentOf(env: JsonObject): SuiteInput["env"] {
  const { time, date, hour, weekday, environment } = env;
  const named = typeof environment === "string" ? { environment } : {};
  if (typeof time === "string") return { ...named, time };
  const day =
    typeof date === "string"
      ? date
      : `2026-02-0${WEEKDAYS.indexOf(typeof weekday === "string" ? weekday : "sunday") + 1}`;
  const hours = typeof hour === "number" ? hour : 12;
  return { ...named, time: `${day}T${String(hours).padStart(2, "0")}:00:00Z` };
}
