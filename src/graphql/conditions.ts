import type { FieldNode } from "graphql";
import { memberNames, similarMember, type LookedAt, type MemberNames } from "../names/index.ts";
import {
  evaluate,
  readsBelow,
  UNAVAILABLE,
  type AttributePath,
  type Attributes,
  type Expression,
  type PlannedGraphqlRule,
  type Verdict,
} from "../policy/index.ts";
import { lateReads } from "./late-reads.ts";
import { argumentsOf, type Variables } from "./literals.ts";
import { malformed, overLimit, type InputObject, type InputValue } from "./types.ts";
import type { Occurrence } from "./walk.ts";
import { GRAPHQL_TEXT } from "./refusals.ts";

/** What a rule's condition comes to before anything is delivered. */
export interface ConditionVerdict {
  readonly args: InputObject;
  readonly verdict: Verdict;
  /** What it reads of what a subscription delivers. */
  readonly late: readonly AttributePath[];
}

interface KnownField {
  readonly defaults: Readonly<Record<string, unknown>> | undefined;
  readonly args: InputObject;
  readonly conditions: Map<PlannedGraphqlRule, ConditionVerdict>;
}

/**
 * How many names of arguments and variables are looked at for one request: five times as many as its JSON has values at most
 * (`MAX_VALUES` of src/json), which takes less than 10 ms.
 */
const MAX_NAMES = 50_000;

/**
 * Evaluates conditions at the fields of one operation. Fragments lead to a field again and again, and its arguments may be
 * as long as a document: each field is evaluated once.
 */
export class Conditions {
  readonly #variables: Variables;
  readonly #given: InputObject;
  readonly #env: InputValue;
  readonly #lookedAt: LookedAt;
  readonly #fields = new Map<FieldNode, KnownField>();
  /** Found out when a condition first reads arguments. */
  #similarVariable: boolean | undefined;

  /**
   * @param of - `given`: what the request says of variables, those of the operation and others; `lookedAt`: for all
   *   operations of one request
   */
  constructor(of: {
    readonly variables: Variables;
    readonly given: InputObject;
    readonly env: InputValue;
    readonly lookedAt: LookedAt;
  }) {
    this.#variables = of.variables;
    this.#given = of.given;
    this.#env = of.env;
    this.#lookedAt = of.lookedAt;
  }

  verdict(occurrence: Occurrence, rule: PlannedGraphqlRule): ConditionVerdict {
    const { args, conditions } = this.#field(occurrence);
    let verdict = conditions.get(rule);
    if (verdict === undefined) {
      verdict = { args, ...this.#condition(rule, args) };
      conditions.set(rule, verdict);
    }
    return verdict;
  }

  #field({ node, fields }: Occurrence): KnownField {
    const defaults = fields.at(-1)?.defaults;
    const known = this.#fields.get(node);
    if (known !== undefined && known.defaults === defaults) return known;
    const args = argumentsOf(node.arguments ?? [], this.#variables, defaults);
    const field = { defaults, args, conditions: new Map() };
    this.#fields.set(node, field);
    return field;
  }

  #condition({ when }: PlannedGraphqlRule, args: InputObject): Omit<ConditionVerdict, "args"> {
    if (when === undefined || when === false) return { verdict: when !== false, late: [] };
    this.#checkNames(args, namesRead(when));
    const late = lateReads(when);
    const unknown = late.map(([root = ""]): [string, InputValue] => [root, UNAVAILABLE]);
    const attributes = { ...Object.fromEntries(unknown), args, env: this.#env } as Attributes;
    return { verdict: evaluate(when, attributes), late };
  }

  /** Some servers take `Id` for `id`: in an input object, and among the variables. */
  #checkNames(args: InputObject, names: MemberNames): void {
    if (names.exact.size === 0) return;
    this.#similarVariable ??= this.#isSimilar(
      this.#given,
      memberNames([...this.#variables.keys()].map((name) => [name])),
    );
    if (this.#similarVariable || this.#isSimilar(args, names)) malformed(GRAPHQL_TEXT.similar_name);
  }

  /** @throws GraphqlRefusal */
  #isSimilar(object: InputObject, names: MemberNames): boolean {
    const lookedAt = this.#lookedAt;
    const similar = similarMember(object, names, { lists: "strict", lookedAt }) !== undefined;
    if (lookedAt.count > MAX_NAMES)
      overLimit("arguments have more names than are compared with those that rules read");
    return similar;
  }
}

const known = new WeakMap<Expression, MemberNames>();

/** The names that a condition reads of arguments. */
function namesRead(when: Expression): MemberNames {
  let names = known.get(when);
  if (names === undefined) {
    names = memberNames(readsBelow(when, "args"));
    known.set(when, names);
  }
  return names;
}
