import {
  carriesNoOperation,
  refuseOperationIn,
  skeletonOf,
  type GraphqlPayload,
} from "../../graphql/index.ts";
import {
  formatPath,
  readAttribute,
  UNAVAILABLE,
  type AttributePath,
  type Attributes,
  type Value,
} from "../../policy/evaluation.ts";
import type { GraphqlInputs, RecordInputs, RulesInputs } from "../../protocol/record.ts";
import { sanitize } from "../../text/index.ts";
import { prefersHtml, type CanonicalRequest } from "../../request/index.ts";
import { asksForGraphql, isWebsocketUpgrade } from "../decide/evaluate-upgrade.ts";
import { preflightForm } from "../decide/evaluate-preflight.ts";
import { readGraphql } from "../decide/read-operations.ts";
import { lookedUp } from "../policies/needs.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { Decision, RulesEvaluated, UnknownParts } from "../types.ts";
import { describePlan } from "./describe-plan.ts";
import type { InputProtection } from "./input-protection.ts";

/** Roots that the caller and the request provide. All others but sources are known only later. */
const KNOWN_ROOTS: ReadonlySet<string> = new Set(["user", "customer", "request"]);
/** Members of `request` that the inputs have by themselves, so that they are not among the values; unknown ones are unavailable. */
export const REQUEST_INPUTS: ReadonlySet<string> = new Set([
  "method",
  "path",
  "host",
  "scheme",
  "protocol",
  "client_ip",
]);

/** @returns what the rules read for a decision; `undefined` if that was not kept */
export function recordInputs(decision: Decision, protection: InputProtection): RecordInputs | undefined {
  const { inputs, request } = decision;
  if (inputs === undefined) return undefined;
  if (inputs === "before_rules" || request === undefined) return { before_rules: true };
  const { readings, snapshot, customerSets } = inputs;
  const sent = readings.request;
  const attributes = new AttributeStates(snapshot, protection);
  for (const { needs, attributes: read } of inputs.gathered)
    for (const path of needs.reads) attributes.add(path, read);
  // whether a rule reads them or not: those of another set may
  for (const path of untoldPaths(decision.unknown)) attributes.addUnavailable(path);
  const { identity } = inputs;
  if (identity !== undefined) {
    const caller: Attributes = { user: identity.user, customer: identity.customer };
    attributes.add(["user", "id"], caller);
    attributes.add(["customer", "id"], caller);
    for (const path of protection.options.keep)
      if (path[0] === "user" || path[0] === "customer") attributes.add(path, caller);
  }
  const variants = readings.variants
    .filter(({ of }) => of === sent)
    .map(({ request: { path }, by }) => ({ path, by }));
  // a variant of a variant counts as a reading of its own
  const others = readings.others.length + readings.variants.length - variants.length;
  const plan = decision.plan && describePlan(decision.plan, snapshot);
  const recorded: RulesInputs = {
    at: inputs.at,
    environment: inputs.environment,
    method: sent.method,
    path: sent.path,
    host: sent.host,
    scheme: sent.scheme,
    protocol: sent.protocol,
    caller: inputs.caller,
    ...attributes.members(),
    ...(variants.length > 0 && { variants }),
    ...(others > 0 && { other_readings: others }),
    ...(customerSets > 0 && { customer_sets: customerSets }),
    ...disguises(sent, inputs, protection),
    ...(plan && { plan }),
  };
  return textsOf(recorded).every(isHarmless) ? recorded : { left_out: "credential" };
}

/** What no rule can know, by the paths of attributes. The host and the protocol are empty if they are unknown. */
function untoldPaths({ headers, query, members }: UnknownParts = {}): readonly AttributePath[] {
  const names = query === "all" ? [] : [...(query ?? [])];
  return [
    ...(headers === "all" ? [["request", "headers"]] : []),
    ...(query === "all" ? [["request", "query"]] : names.map((name) => ["request", "query", name])),
    ...[...(members ?? [])].map((member) => ["request", member]),
  ];
}

/** The texts from the request that would be written as they are: replaying others would decide another request. */
function textsOf({ method, path, host, variants = [], preflight, graphql }: RulesInputs): readonly string[] {
  const documents = graphql !== undefined && "documents" in graphql ? graphql.documents : [];
  return [
    ...[method, path, host, preflight?.origin ?? ""],
    ...variants.map((variant) => variant.path),
    ...documents.flatMap(({ query, operation = "" }) => [...query.split("\n"), operation]),
  ];
}

function isHarmless(text: string): boolean {
  return sanitize(text, Math.max(text.length, 1)) === text;
}

/** What a request is besides an ordinary one. */
function disguises(
  sent: CanonicalRequest,
  { snapshot }: RulesEvaluated,
  protection: InputProtection,
): Pick<RulesInputs, "websocket" | "preflight" | "graphql"> {
  if (isWebsocketUpgrade(sent)) {
    const websocket = {
      ...(asksForGraphql(sent) && { graphql: true as const }),
      ...(refuseOperationIn(sent) !== undefined && { carries_operation: true as const }),
    };
    return { websocket };
  }
  const form = preflightForm(sent);
  if (form !== "other") {
    const [origin] = sent.headers["origin"] ?? [];
    return { preflight: { well_formed: form === "preflight", ...(origin !== undefined && { origin }) } };
  }
  const endpoint = snapshot.endpoints.at(sent);
  if (typeof endpoint !== "object") return {};
  return { graphql: operationsOf(sent, snapshot, protection) };
}

function operationsOf(
  request: CanonicalRequest,
  { ir }: Snapshot,
  protection: InputProtection,
): GraphqlInputs {
  if (prefersHtml(request.headers["accept"]) && carriesNoOperation(request)) return { page: true };
  const read = readGraphql(request, ir.graphql.settings);
  if (!read.ok) return { refused: read.code };
  const { payloads, batch, kinds, nullable } = read;
  return { documents: payloads.map((payload) => documentOf(payload, protection)), batch, kinds, nullable };
}

function documentOf(payload: GraphqlPayload, protection: InputProtection) {
  const { operationName: operation } = payload;
  const query = skeletonOf(
    payload,
    (argument, value) => protection.protect(["args", argument], value as Value).kind === "value",
  );
  return { query, ...(operation !== undefined && { operation }) };
}

/** The attributes of one record, each with what is known of it. */
class AttributeStates {
  readonly #snapshot: Snapshot;
  readonly #protection: InputProtection;
  readonly #values: Record<string, unknown> = {};
  readonly #hashes: Record<string, string | readonly string[]> = {};
  readonly #missing = new Set<string>();
  readonly #unavailable = new Set<string>();
  readonly #redacted = new Set<string>();
  readonly #lookups: Record<string, readonly [source: string, key: string]> = {};
  readonly #known = new Set<string>();

  constructor(snapshot: Snapshot, protection: InputProtection) {
    this.#snapshot = snapshot;
    this.#protection = protection;
  }

  add(path: AttributePath, attributes: Attributes): void {
    const [root = "", member = ""] = path;
    const source = lookedUp(this.#snapshot.ir, root);
    if (source === undefined && !KNOWN_ROOTS.has(root)) return;
    if (root === "request" && REQUEST_INPUTS.has(member)) return;
    if (source !== undefined) this.#lookups[root] ??= [source.name, lookupKey(source.key, attributes)];
    const name = formatPath(path);
    if (this.#known.has(name)) return;
    this.#known.add(name);
    // the shortest part of the path that decides: what is below it is missing or unavailable, too
    for (let length = 1; length <= path.length; length++) {
      const part = path.slice(0, length);
      const value = readAttribute(part, attributes);
      if (value === undefined) {
        this.#missing.add(formatPath(part));
        return;
      }
      if (value === UNAVAILABLE) {
        this.#unavailable.add(formatPath(part));
        return;
      }
      if (length < path.length) continue;
      const kept = this.#protection.protect(path, value);
      switch (kept.kind) {
        case "value":
          this.#values[name] = kept.value;
          return;
        case "hash":
          this.#hashes[name] = kept.hash;
          return;
        case "redacted":
          this.#redacted.add(name);
          return;
      }
    }
  }

  addUnavailable(path: AttributePath): void {
    this.#unavailable.add(formatPath(path));
  }

  members(): Partial<RulesInputs> {
    const { hash } = this.#protection.options;
    const hashed = Object.keys(this.#hashes).length > 0;
    return {
      ...(hashed && hash && { key: hash.keyId }),
      ...(Object.keys(this.#values).length > 0 && { values: this.#values }),
      ...(hashed && { hashes: this.#hashes }),
      ...(this.#missing.size > 0 && { missing: [...this.#missing] }),
      ...(this.#unavailable.size > 0 && { unavailable: [...this.#unavailable] }),
      ...(this.#redacted.size > 0 && { redacted: [...this.#redacted] }),
      ...(Object.keys(this.#lookups).length > 0 && { lookups: this.#lookups }),
    };
  }
}

/**
 * Names the key of a look-up. A path parameter is named by its value, which the record's path has in any case: another rule
 * may give another segment the same name.
 */
export function lookupKey(key: AttributePath, attributes: Attributes): string {
  if (key[0] !== "path") return formatPath(key);
  const value = readAttribute(key, attributes);
  return `path ${typeof value === "string" ? value : ""}`;
}
