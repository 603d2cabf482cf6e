import type { JsonMember, JsonNode, JsonObjectNode, JsonReason } from "../../json/index.ts";
import { evaluate } from "../condition/evaluate.ts";
import type { PlannedField, ResponsePlanIR } from "../plan.ts";
import type { Attributes } from "../value.ts";
import { replacementOf, STRICTNESS } from "./actions.ts";
import { addErrors } from "./add-errors.ts";
import { parseDocument, seenValue } from "./document.ts";
import { applyEdits, type Edit } from "./edits.ts";
import { isAnswer } from "./graphql-result.ts";
import { elementsPath, memberPath, ROOT_PATH } from "./structural-path.ts";

/** What conditions may read of the response besides its body. */
export interface MaskedResponse {
  readonly status?: number;
  /** Keyed by name in lower case. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

export type MaskResult =
  | {
      readonly ok: true;
      readonly text: string;
      /** The number of members changed. */
      readonly count: number;
      /** Their paths, such as `$.customers[*].ssn`; without duplicates, at most 50. */
      readonly paths: readonly string[];
    }
  /**
   * The document must not be delivered. `not_object`: there are errors to add, but the document is not an object.
   * `not_result`: it has other members than the result of a GraphQL operation.
   */
  | { readonly ok: false; readonly reason: JsonReason | "not_object" | "not_result" };

const MAX_PATHS = 50;

/**
 * Masks the fields that a plan names in a JSON document, at their spans in the text; everything else is unchanged.
 * Equivalent to `envoy/lua/gatehouse/mask.lua` in Envoy. Pure; never throws.
 */
export function maskDocument(
  text: string,
  plan: Pick<ResponsePlanIR, "fields" | "errors" | "graphql">,
  response: MaskedResponse,
): MaskResult {
  const document = parseDocument(text);
  if (!document.ok) return document;
  if (plan.graphql === true && !isAnswer(document.root)) return { ok: false, reason: "not_result" };
  const masker = new Masker(text, document.root, plan.fields, response);
  masker.visit(document.root, [], ROOT_PATH);
  const { edits, paths } = masker;
  const result = { ok: true, text: applyEdits(text, edits), count: masker.count, paths: [...paths] } as const;
  if (plan.errors === undefined || plan.errors.length === 0) return result;
  const masked = parseDocument(result.text);
  if (!masked.ok || masked.root.kind !== "object") return { ok: false, reason: "not_object" };
  return { ...result, text: addErrors(result.text, masked.root, plan.errors) };
}

class Masker {
  readonly edits: Edit[] = [];
  readonly paths = new Set<string>();
  count = 0;
  readonly #text: string;
  readonly #fields: readonly PlannedField[];
  readonly #response: Attributes[string];
  /** Caches verdicts, so that a key repeated a thousand times in an object is evaluated once. */
  readonly #wanted = new Map<JsonObjectNode, Map<PlannedField, boolean>>();

  constructor(text: string, root: JsonNode, fields: readonly PlannedField[], response: MaskedResponse) {
    this.#text = text;
    this.#fields = fields.toSorted((a, b) => STRICTNESS[b.action.kind] - STRICTNESS[a.action.kind]);
    // as an attribute, it may contain UNAVAILABLE
    this.#response = {
      ...(response.status === undefined ? {} : { status: response.status }),
      headers: response.headers ?? {},
      body: seenValue(root),
    } as Attributes[string];
  }

  /**
   * @param keys - the keys that lead to `node`, arrays left out
   * @param path - the same for the records
   */
  visit(node: JsonNode, keys: readonly string[], path: string): void {
    if (node.kind === "array") for (const item of node.items) this.visit(item, keys, elementsPath(path));
    if (node.kind !== "object") return;
    let someLeft = false;
    for (const [index, member] of node.members.entries()) {
      const memberKeys = [...keys, member.name];
      const field = this.#fields.find((one) => matches(one, memberKeys) && this.#isWanted(one, node));
      if (field === undefined) {
        this.visit(member.value, memberKeys, memberPath(path, member.name));
        someLeft = true;
        continue;
      }
      const replacement = replacementOf(field.action, member.value, this.#text);
      if (replacement === undefined) {
        this.edits.push(
          removal(member, someLeft ? node.members[index - 1] : undefined, node.members[index + 1]),
        );
      } else {
        this.edits.push({ start: member.value.start, stop: member.value.stop, text: replacement });
        someLeft = true;
      }
      this.count += 1;
      if (this.paths.size < MAX_PATHS) this.paths.add(memberPath(path, member.name));
    }
  }

  /** A field is left unmasked only on false: unknown masks. */
  #isWanted(field: PlannedField, object: JsonObjectNode): boolean {
    if (field.when === undefined) return true;
    const known = this.#wanted.get(object) ?? new Map<PlannedField, boolean>();
    this.#wanted.set(object, known);
    const item = seenValue(object) as Attributes[string];
    const wanted = known.get(field) ?? evaluate(field.when, { item, response: this.#response }) !== false;
    known.set(field, wanted);
    return wanted;
  }
}

/**
 * Whether the keys end with the field's keys or, if the field is anchored, equal them. An unpaired surrogate matches no
 * name.
 */
function matches(field: PlannedField, keys: readonly string[]): boolean {
  const offset = keys.length - field.keys.length;
  if (offset < 0 || (field.anchored && offset > 0)) return false;
  return field.keys.every((key, index) => key.isWellFormed() && key === keys[offset + index]);
}

/**
 * A member is removed together with the comma before it, if a member before it remains; otherwise together with the
 * comma after it, up to the next key.
 */
function removal(member: JsonMember, before: JsonMember | undefined, behind: JsonMember | undefined): Edit {
  const { start, value } = member;
  return before === undefined
    ? { start, stop: behind?.start ?? value.stop, text: "" }
    : { start: before.value.stop, stop: value.stop, text: "" };
}
