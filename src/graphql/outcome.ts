import type { PlannedField } from "../policy/index.ts";
import { graphqlErrors } from "./errors.ts";
import {
  MAX_DENIALS,
  type GraphqlDenial,
  type GraphqlEvent,
  type GraphqlVerdict,
  type OperationKind,
} from "./types.ts";
import type { Occurrence } from "./walk.ts";
import { filledIn, GRAPHQL, GRAPHQL_TEXT } from "./refusals.ts";

/** Maximum number of fields set to null in one response. If more are denied, the whole request is. */
const MAX_NULLS = 100;

/** Collects the outcomes of a request's fields. */
export class Outcome {
  readonly #nullable: boolean;
  readonly #denials: GraphqlDenial[] = [];
  readonly #seen = new Set<string>();
  readonly #nulls = new Map<string, PlannedField>();
  readonly #events: GraphqlEvent[] = [];
  #rejected = false;
  #kind: OperationKind = "query";
  #occurrence: Pick<Occurrence, "path" | "fields"> = { path: [], fields: [] };

  /** @param nullable - denied fields may be returned as null */
  constructor(nullable: boolean) {
    this.#nullable = nullable;
  }

  /** Sets the field that the following calls are about. */
  visit(kind: OperationKind, occurrence: Occurrence): void {
    this.#kind = kind;
    this.#occurrence = occurrence;
  }

  deny({ rule, code = GRAPHQL.ACCESS_DENIED, onDeny = "reject", message }: Partial<GraphqlDenial>): void {
    const { path } = this.#occurrence;
    if (this.#nullable && this.#kind === "query" && onDeny === "null" && rule !== undefined) this.#null(rule);
    else this.#rejected = true;

    const key = JSON.stringify([rule, ...path]);
    if (this.#denials.length === MAX_DENIALS || this.#seen.has(key)) return;
    this.#seen.add(key);
    const text = message ?? filledIn(GRAPHQL_TEXT.denied, path.join("."));
    this.#denials.push({ ...(rule !== undefined && { rule }), code, message: text, path, onDeny });
  }

  /** Records that the events of a subscription must be evaluated. */
  await(event: GraphqlEvent): void {
    this.#events.push(event);
  }

  verdict(): GraphqlVerdict {
    const denials = this.#denials;
    if (this.#rejected) return { kind: "denied", denials };
    return {
      kind: "allowed",
      nulls: [...this.#nulls.values()],
      errors: graphqlErrors(denials),
      events: this.#events,
    };
  }

  /** Sets the field to null or, if it is non-null, its nearest nullable parent (GraphQL, section 6.4.4). */
  #null(rule: string): void {
    const { path, fields } = this.#occurrence;
    const nulled = fields.findLastIndex((field) => field?.nonNull !== true) + 1;
    const keys = ["data", ...path.slice(0, nulled)];
    const name = keys.join("."); // GraphQL names contain no dots
    if (!this.#nulls.has(name))
      this.#nulls.set(name, { rule, anchored: true, keys, action: { kind: "null" } });
    if (this.#nulls.size > MAX_NULLS) this.#rejected = true;
  }
}
