import { isList, isObject } from "../json/index.ts";
import { evaluate, UNAVAILABLE, type Attributes, type AttributePath } from "../policy/evaluation.ts";
import { isResult } from "../policy/mask/index.ts";
import { memberOf } from "./input.ts";
import { lateReads } from "./late-reads.ts";
import type { GraphqlEvent, InputValue, EvaluationOptions } from "./types.ts";

/** The outcome of one event of a subscription. */
export type EventVerdict =
  | { readonly deliver: true }
  /** `rule` is the first one whose condition is not true; absent if the event cannot be read. */
  | { readonly deliver: false; readonly rule?: string };

/**
 * Evaluates an event by the conditions that remained when the client subscribed. All must be true.
 *
 * @param payload - the object that contains `data`
 */
export function evaluateEvent(
  events: readonly GraphqlEvent[],
  payload: InputValue,
  { env }: Pick<EvaluationOptions, "env">,
): EventVerdict {
  if (events.length === 0) return { deliver: true };
  if (!isCompleteResult(payload)) return { deliver: false };
  const data = memberOf(payload, "data") ?? null;
  if (data === null) return { deliver: true }; // only errors
  if (!isObject(data)) return { deliver: false };
  for (const event of events) {
    const delivered = memberOf(data, event.key) ?? null;
    if (delivered !== null && !permits(event, delivered, env)) return { deliver: false, rule: event.rule };
  }
  return { deliver: true };
}

/** Whether an object has no members that announce or contain parts. */
export function isCompleteResult(payload: InputValue): boolean {
  return isObject(payload) && isResult(Object.keys(payload));
}

function permits(event: GraphqlEvent, delivered: InputValue, env: InputValue): boolean {
  if (isList(delivered)) return delivered.every((item) => permits(event, item, env));
  const { when, roots, members, args } = event;
  const paths = lateReads(when).map((path) => (members.includes(path[0] ?? "") ? path : path.slice(1)));
  const whole = filled(delivered, paths);
  const late = roots.map((root): [string, InputValue] => {
    const value = members.includes(root) ? memberOf(whole, root) : whole;
    return [root, value === undefined ? UNAVAILABLE : value];
  });
  return evaluate(when, { ...Object.fromEntries(late), args, env } as Attributes) === true;
}

/**
 * @returns `value`, with UNAVAILABLE where `paths` read a member that an object lacks. Everything that is read was
 *   selected, so an absent member was left out by `@skip` or similar and is not missing in the sense of `exists`.
 */
function filled(value: InputValue, paths: readonly AttributePath[]): InputValue {
  if (!isObject(value)) return value;
  const object = Object.assign(Object.create(null), value) as Record<string, InputValue>;
  for (const [key] of paths) {
    if (key === undefined) continue;
    const below = paths.filter(([first]) => first === key).map((path) => path.slice(1));
    object[key] = Object.hasOwn(value, key) ? filled(value[key] ?? null, below) : UNAVAILABLE;
  }
  return object;
}
