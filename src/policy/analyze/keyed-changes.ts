import type {
  Expression,
  MaskAction,
  PolicySetIR,
  ResponseFieldIR,
  ResponseRuleIR,
  SegmentIR,
  SourcePosition,
  WebsocketMessageIR,
} from "../ir.ts";
import { compareConditions, type Change } from "./compare.ts";
import { requestDomains } from "./request-domains.ts";
import { areMethodsShared, overlap } from "./overlap.ts";
import { placed, reasons, witnesses, type RuleChange } from "./rule-change.ts";

/** A condition that is found by a key in both sets. What it decides does not depend on other rules. */
interface Keyed {
  readonly section: string;
  readonly resource: string;
  readonly id: string;
  readonly at: SourcePosition;
  /** Permits, or makes a value visible, where it is true. */
  readonly expression: Expression;
  readonly mask?: {
    readonly action: MaskAction;
    readonly keys: readonly string[];
    readonly method: string;
    readonly segments: readonly SegmentIR[];
  };
}

const ALWAYS: Expression = { op: "literal", value: true };

function keyedOf({ responses, graphql, websocket }: PolicySetIR): Keyed[] {
  return [
    ...responses.flatMap((rule) =>
      rule.fields.map((field) => masked(field, rule, `${rule.method} ${rule.pattern}`, rule.method)),
    ),
    ...graphql.rules.map((rule) => ({
      ...rule,
      resource: `${rule.operation} ${rule.type === undefined ? "" : `${rule.type}.`}${rule.field}`,
      expression: rule.condition.expression,
    })),
    ...websocket.connections.flatMap((rule) => [
      { ...rule, resource: `connection ${rule.pattern}`, expression: rule.condition.expression },
      ...rule.messages.flatMap((message) => [
        {
          ...message,
          resource: `${message.direction} ${message.type} on ${rule.pattern}`,
          expression: message.condition.expression,
        },
        ...message.fields.map((field) => masked(field, message, `${message.type} on ${rule.pattern}`, "*")),
      ]),
    ]),
  ];
}

function masked(
  { field, action, condition, at }: ResponseFieldIR,
  { section, id, segments }: Pick<ResponseRuleIR | WebsocketMessageIR, "section" | "id" | "segments">,
  place: string,
  method: string,
): Keyed {
  const name = [...(field.anchored ? ["$"] : []), ...field.keys].join(".");
  // masking is skipped only if the condition is false
  const expression: Expression = { op: "not", arg: condition.expression };
  const mask = { action, keys: field.keys, method, segments };
  return { section, resource: `${name} of ${place}`, id, at, expression, mask };
}

/** Lists the changes of response, GraphQL and WebSocket rules. */
export function keyedChanges(setBefore: PolicySetIR, setAfter: PolicySetIR): RuleChange[] {
  const [before, after] = [keyedOf(setBefore), keyedOf(setAfter)];
  const [old, now] = [Map.groupBy(before, keyOf), Map.groupBy(after, keyOf)];
  const byName = masksByName([...before, ...after]);
  const changes = [...new Set([...old.keys(), ...now.keys()])].flatMap((key) =>
    keyedChange(old.get(key) ?? [], now.get(key) ?? [], byName),
  );
  return [...changes, ...orderChange(before, after)];
}

/** Masks by the names of their fields. */
function masksByName(all: readonly Keyed[]): ReadonlyMap<string, readonly Keyed[]> {
  const found = new Map<string, Keyed[]>();
  for (const one of all) {
    for (const name of one.mask?.keys ?? []) {
      const others = found.get(name);
      if (others === undefined) found.set(name, [one]);
      else others.push(one);
    }
  }
  return found;
}

function keyOf({ section, resource }: Keyed): string {
  return JSON.stringify([section, resource]);
}

function keyedChange(
  olds: readonly Keyed[],
  nows: readonly Keyed[],
  byName: ReadonlyMap<string, readonly Keyed[]>,
): RuleChange[] {
  const [old] = olds;
  const [now] = nows;
  const either = now ?? old;
  if (either === undefined || contentOf(olds) === contentOf(nows)) return [];
  const { section, resource, mask } = either;
  const undecided = (...notes: string[]): RuleChange[] => [
    { section, resource, ...placed(old, now), change: "undecided", notes },
  ];
  if (olds.length > 1 || nows.length > 1) return undecided("several rules are for the same");
  if (mask === undefined && (old === undefined || now === undefined))
    return undecided(
      `the rule was ${old === undefined ? "added" : "removed"}; what decides without it depends on other rules`,
    );
  // without its rule a value is visible
  const { change, gained, lost } = compareConditions(
    old?.expression ?? ALWAYS,
    now?.expression ?? ALWAYS,
    requestDomains(),
  );
  const [oldAction, nowAction] = [old?.mask?.action, now?.mask?.action];
  const isSameAction =
    oldAction === undefined ||
    nowAction === undefined ||
    JSON.stringify(oldAction) === JSON.stringify(nowAction);
  const other = mask && otherMask(either, mask, byName);
  if (other !== undefined && (change !== "equivalent" || !isSameAction))
    return undecided(`\`${other.resource}\` may mask the same value`, ...reasons(gained, lost));
  return [
    {
      section,
      resource,
      ...placed(old, now),
      change: isSameAction ? change : withAction(change, oldAction, nowAction),
      ...witnesses(gained, lost, (finding) =>
        finding.kind === "found" ? { attributes: finding.attributes } : undefined,
      ),
      notes: [
        ...(isSameAction ? [] : [`the action changed from \`${oldAction.kind}\` to \`${nowAction.kind}\``]),
        ...reasons(gained, lost),
      ],
    },
  ];
}

/** @returns a rule that may mask the same value */
function otherMask(
  { section, resource }: Keyed,
  mask: NonNullable<Keyed["mask"]>,
  byName: ReadonlyMap<string, readonly Keyed[]>,
): Keyed | undefined {
  return mask.keys
    .flatMap((name) => byName.get(name) ?? [])
    .find((one) => (one.section !== section || one.resource !== resource) && mayMaskSame(mask, one.mask));
}

/** What rules decide, without their names and places. */
function contentOf(rules: readonly Keyed[]): string {
  return JSON.stringify(rules.map(({ expression, mask }) => [expression, mask?.action]));
}

/** Whether two masks can be for the same value of a response, or one for a part of the other's. */
function mayMaskSame(a: NonNullable<Keyed["mask"]>, b: Keyed["mask"]): boolean {
  return (
    b !== undefined &&
    areMethodsShared(a.method, b.method) &&
    overlap(a.segments, b.segments) &&
    a.keys.some((key) => b.keys.includes(key))
  );
}

/** `partial` shows a part of the value. The other actions show nothing of it, but responses differ. */
function withAction(change: Change, before: MaskAction, after: MaskAction): Change {
  const isPartial = [before, after].map(({ kind }) => kind === "partial");
  if (change === "undecided" || isPartial[0] === isPartial[1]) return "undecided";
  const own: Change = isPartial[1] ? "wider" : "narrower";
  return change === "equivalent" || change === own ? own : "incomparable";
}

/** Of rules that are for the same, the first may decide. */
function orderChange(before: readonly Keyed[], after: readonly Keyed[]): RuleChange[] {
  const [old, now] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  const shared = (keys: ReadonlySet<string>, others: ReadonlySet<string>) =>
    JSON.stringify([...keys].filter((key) => others.has(key)));
  if (shared(old, now) === shared(now, old)) return [];
  const note = "response, GraphQL or WebSocket rules that are in both sets changed their order";
  return [{ section: "head", resource: "order", change: "undecided", notes: [note] }];
}
