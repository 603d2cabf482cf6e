import { isList, isObject, type JsonObject, type JsonValue } from "../../json/index.ts";

/** A request that is not one of the Authorization API: answered with 400. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
}

export interface Entity {
  readonly type: string;
  /** Absent where a search leaves it open. */
  readonly id?: string;
  readonly properties: JsonObject;
}

/** Subject, action, resource and context of one question. */
export interface Tuple {
  readonly subject: Entity;
  readonly action: string;
  readonly resource: Entity;
  readonly context: JsonObject;
}

const PARTS = ["subject", "action", "resource", "context"] as const;
type Part = (typeof PARTS)[number];

/** @throws BadRequest */
export function objectIn(value: JsonValue | undefined, name: string): JsonObject {
  if (!isObject(value)) throw new BadRequest(`\`${name}\` must be an object`);
  return value;
}

function textIn(value: JsonValue | undefined, name: string): string {
  if (typeof value !== "string" || value === "") throw new BadRequest(`\`${name}\` must be a text`);
  return value;
}

function optionalObjectIn(value: JsonValue | undefined, name: string): JsonObject {
  return value === undefined ? {} : objectIn(value, name);
}

/**
 * Reads the entities of a question.
 *
 * @param open - what a search asks for: there, an id is ignored, and an action need not be named
 * @throws BadRequest
 */
export function readTuple(body: JsonObject, open?: "subject" | "resource" | "action"): Tuple {
  const entity = (part: "subject" | "resource"): Entity => {
    const value = objectIn(body[part], part);
    const type = textIn(value["type"], `${part}.type`);
    const properties = optionalObjectIn(value["properties"], `${part}.properties`);
    return open === part ? { type, properties } : { type, id: textIn(value["id"], `${part}.id`), properties };
  };
  const action = open === "action" ? "" : actionIn(objectIn(body["action"], "action"));
  return {
    subject: entity("subject"),
    action,
    resource: entity("resource"),
    context: optionalObjectIn(body["context"], "context"),
  };
}

function actionIn(action: JsonObject): string {
  optionalObjectIn(action["properties"], "action.properties");
  return textIn(action["name"], "action.name");
}

export const SEMANTICS = ["execute_all", "deny_on_first_deny", "permit_on_first_permit"] as const;
export type Semantic = (typeof SEMANTICS)[number];

/** The questions of a request for several evaluations, defaults filled in. */
export interface Evaluations {
  readonly questions: readonly JsonObject[];
  readonly semantic: Semantic;
}

/**
 * @returns `undefined` if the request has no list of evaluations: it is a single one then
 * @throws BadRequest
 */
export function readEvaluations(body: JsonObject, most: number): Evaluations | undefined {
  const { evaluations: listed, options } = body;
  if (listed === undefined) return undefined;
  if (!isList(listed)) throw new BadRequest("`evaluations` must be a list");
  if (listed.length > most) throw new BadRequest(`\`evaluations\` has more than ${most} entries`);
  const wanted = optionalObjectIn(options, "options")["evaluations_semantic"] ?? "execute_all";
  const semantic = SEMANTICS.find((known) => known === wanted);
  if (semantic === undefined)
    throw new BadRequest(`\`options.evaluations_semantic\` must be one of ${SEMANTICS.join(", ")}`);
  if (listed.length === 0) return undefined;
  const defaults = partsOf(body);
  const questions = listed.map((entry, index) => ({
    ...defaults,
    ...partsOf(objectIn(entry, `evaluations[${index}]`)),
  }));
  return { questions, semantic };
}

function partsOf(object: JsonObject): JsonObject {
  const found = PARTS.flatMap((part: Part) => (object[part] === undefined ? [] : [[part, object[part]]]));
  return Object.fromEntries(found) as JsonObject;
}
