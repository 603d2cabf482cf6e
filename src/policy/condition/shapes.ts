import type { AttributePath, AttributeType } from "../ir.ts";
import { CLAIM_MEMBERS } from "../roots.ts";
import type { ConditionContext } from "./types.ts";

/** What is certain about an attribute in every request. */
export interface Shape {
  /** Absent if it may be anything. */
  readonly type?: AttributeType;
  /** For a list: the type of its entries. */
  readonly entries?: AttributeType;
  /** Without a value it is missing, never null. */
  readonly notNull?: true;
  /** Absent if its members are not known. */
  readonly members?: Members;
  /** The shape of each member, if members may have any name. */
  readonly each?: Shape;
}

interface Members {
  readonly known: ReadonlyMap<string, Shape>;
  /**
   * `closed`: these are all. `open`: there may be others. `guessed`: there may be others, but that is not declared, so
   * a name that is almost one of these is probably a typing error.
   */
  readonly others: "closed" | "open" | "guessed";
}

/** The result of looking up a path: its shape, if known, or the first name in it that does not exist. */
export interface Found {
  readonly shape?: Shape;
  readonly unknown?: {
    /** The path above the name. */
    readonly above: AttributePath;
    readonly name: string;
    readonly known: readonly string[];
    readonly certain: boolean;
  };
}

const STRING: Shape = { type: "string", notNull: true };
/** Parameters and headers by name. Each may be sent several times. */
const BY_NAME: Shape = {
  type: "object",
  notNull: true,
  each: { type: "list", entries: "string", notNull: true },
};

/** Whether the pattern has the parameter is checked elsewhere. */
const PATH: Shape = { type: "object", each: STRING };
const REQUEST = closed({
  method: STRING,
  path: STRING,
  host: STRING,
  scheme: STRING,
  protocol: STRING,
  client_ip: STRING,
  headers: BY_NAME,
  query: BY_NAME,
  body: {},
});
const ENV = closed({
  time: STRING,
  date: STRING,
  hour: { type: "number", notNull: true },
  weekday: STRING,
  environment: STRING,
});

/** Roots from outside that have some members for certain. Others can be declared. */
const OUTSIDE: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  user: { ...Object.fromEntries(CLAIM_MEMBERS.user.map((name) => [name, {}])), id: STRING },
  customer: Object.fromEntries(CLAIM_MEMBERS.customer.map((name) => [name, {}])),
  response: { status: { type: "number", notNull: true }, headers: BY_NAME, body: {} },
  message: { type: STRING },
};
/** Used if nothing is declared. */
const OTHERS: Readonly<Record<string, Members["others"]>> = {
  user: "guessed",
  customer: "guessed",
  response: "closed",
};

/** @returns what is certain about the attribute at `path` */
export function lookUp(path: AttributePath, context: ConditionContext): Found {
  const [root = "", ...names] = path;
  let shape = rootShape(root, context);
  for (const [index, name] of names.entries()) {
    if (shape === undefined) return {};
    const { members, each } = shape;
    if (each !== undefined) {
      shape = each;
      continue;
    }
    // a key that contains a dot would be ambiguous
    if (members === undefined || name.includes(".")) return {};
    const next = members.known.get(name);
    if (next === undefined && members.others !== "open") {
      const above = path.slice(0, index + 1);
      const known = [...members.known.keys()];
      return { unknown: { above, name, known, certain: members.others === "closed" } };
    }
    shape = next;
  }
  return shape === undefined ? {} : { shape };
}

/** Cached, so that a set's declarations are read once and not per condition. */
const made = new WeakMap<
  object,
  { readonly open: unknown; readonly shapes: Map<string, Shape | undefined> }
>();
const NOTHING_DECLARED = {};

function rootShape(root: string, { types = NOTHING_DECLARED, open }: ConditionContext): Shape | undefined {
  if (root === "request") return REQUEST;
  if (root === "env") return ENV;
  if (root === "path") return PATH;
  let known = made.get(types);
  if (known?.open !== open || known === undefined) made.set(types, (known = { open, shapes: new Map() }));
  if (!known.shapes.has(root))
    known.shapes.set(root, shapeOfRoot(root, types, open?.includes(root) === true));
  return known.shapes.get(root);
}

function shapeOfRoot(
  root: string,
  types: NonNullable<ConditionContext["types"]>,
  isOpen: boolean,
): Shape | undefined {
  const certain = Object.hasOwn(OUTSIDE, root) ? OUTSIDE[root] : undefined;
  const declared = Object.hasOwn(types, root) ? types[root] : undefined;
  const entries = Object.entries(declared ?? {});
  if (entries.length === 0) {
    if (certain === undefined) return declared && { type: "object" };
    return object(new Map(Object.entries(certain)), isOpen ? "open" : (OTHERS[root] ?? "open"));
  }
  const tree = new Map<string, Branch>();
  for (const [name, type] of entries) declare(tree, name.split("."), type);
  const members = shapesOf(tree, isOpen ? "open" : "closed");
  // declarations cannot change what is certain
  for (const [name, shape] of Object.entries(certain ?? {})) {
    members.set(name, { ...members.get(name), ...shape });
  }
  return object(members, isOpen ? "open" : "closed");
}

interface Branch {
  type?: AttributeType;
  readonly below: Map<string, Branch>;
}

function declare(
  tree: Map<string, Branch>,
  [name = "", ...rest]: readonly string[],
  type: AttributeType,
): void {
  const branch = tree.get(name) ?? { below: new Map<string, Branch>() };
  tree.set(name, branch);
  if (rest.length === 0) branch.type = type;
  else declare(branch.below, rest, type);
}

/** A root with members is an object. If none of its members is declared, it may have any. */
function shapesOf(tree: ReadonlyMap<string, Branch>, others: Members["others"]): Map<string, Shape> {
  return new Map(
    [...tree].map(([name, { type, below }]) => [
      name,
      below.size > 0 ? object(shapesOf(below, others), others) : type === undefined ? {} : { type },
    ]),
  );
}

function closed(members: Readonly<Record<string, Shape>>): Shape {
  return object(new Map(Object.entries(members)), "closed");
}

function object(known: ReadonlyMap<string, Shape>, others: Members["others"]): Shape {
  return { type: "object", members: { known, others } };
}
