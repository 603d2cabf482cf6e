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
} from "../policy/evaluation.ts";
import { lateReads } from "./late-reads.ts";
import { argumentsOf, type Variables } from "./literals.ts";
import { malformed, overLimit, type InputObject, type InputValue } from "./types.ts";
import type { Occurrence } from "./walk.ts";
import { GRAPHQL_TEXT } from "./refusals.ts";

/** The result of a rule's condition before anything is delivered. */
export interface ConditionVerdict {
  readonly args: InputObject;
  readonly verdict: Verdict;
  /** The paths that it reads from a subscription's events. */
  readonly late: readonly AttributePath[];
}

interface KnownField {
  readonly defaults: Readonly<Record<string, unknown>> | undefined;
  readonly args: InputObject;
  readonly conditions: Map<PlannedGraphqlRule, ConditionVerdict>;
}

/**
 * The maximum number of argument and variable names compared per request: five times the maximum number of JSON values
 * (`MAX_VALUES` of src/json), which takes less than 10 ms.
 */
const MAX_NAMES = 50_000;

/**
 * Evaluates conditions at the fields of one operation. Fragments may lead to a field many times, and its arguments may
 * be as long as a document, so each field is evaluated once.
 */
export class Conditions {
  readonly #variables: Variables;
  readonly #given: InputObject;
  readonly #env: InputValue;
  readonly #lookedAt: LookedAt;
  readonly #fields = new Map<FieldNode, KnownField>();
  /** Computed when a condition first reads arguments. */
  #similarVariable: boolean | undefined;

  /**
   * @param of - `given`: the variables in the request, those of the operation and others; `lookedAt`: shared by all
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

  /** Some servers read `Id` as `id`, in input objects and among the variables. */
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
    if (lookedAt.count > MAX_NAMES) overLimit("the arguments have too many names to check for similar ones");
    return similar;
  }
}

const known = new WeakMap<Expression, MemberNames>();

/** The argument names that a condition reads. */
function namesRead(when: Expression): MemberNames {
  let names = known.get(when);
  if (names === undefined) {
    names = memberNames(readsBelow(when, "args"));
    known.set(when, names);
  }
  return names;
}
