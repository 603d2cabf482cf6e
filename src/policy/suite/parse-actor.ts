import { nearestHint, quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { readString } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import type { ValueObject } from "../value.ts";
import type { ParseContext } from "./parse-context.ts";
import { readEntries, readObject } from "./read-value.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Means nobody in place of a person or a customer. */
const NONE = "none";

/** The sender of a request. The gateway does not know an absent member. */
export interface SuiteActor {
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
}

/** Reads `people`: attributes by name. */
export function parsePeople(report: Reporter, node: YamlNode | undefined): ReadonlyMap<string, ValueObject> {
  const people = new Map<string, ValueObject>();
  for (const { key, value } of readEntries(report, node, "`people`")) {
    if (key.text === NONE) {
      report.error(placeOf(key), "reserved-name", "choose another name: `none` means nobody");
    }
    people.set(key.text, readObject(report, value, `the person ${quoted(key.text)}`) ?? {});
  }
  return people;
}

/** Reads a name from `people`, or `none`. */
export function parsePerson(node: YamlNode, { report, people }: ParseContext): ValueObject | undefined {
  const name = readString(report, node, "a person")?.text;
  if (name === undefined || name === NONE) return undefined;
  const person = people.get(name);
  if (person === undefined) {
    const hint = () => nearestHint(name, [...people.keys(), NONE]);
    report.error(placeOf(node), "unknown-person", `unknown person ${quoted(name)}`, hint);
  }
  return person;
}

/** Reads `user` of a test: a name, a mapping of attributes, or nobody. */
export function parseUser(node: YamlNode | undefined, context: ParseContext): ValueObject | undefined {
  if (node === undefined) return undefined;
  return node.kind === "mapping" ? readObject(context.report, node, "`user`") : parsePerson(node, context);
}

/**
 * Adds the customer. If a test names none, it is the one that the token would name: tokens carry both `user` and
 * `customer.id`, and the latter comes from the same claim as `user.customer_id`.
 */
export function withCustomer(
  user: ValueObject | undefined,
  node: YamlNode | undefined,
  report: Reporter,
): SuiteActor {
  const customer = node === undefined ? customerOf(user) : parseCustomer(node, report);
  return { ...(user !== undefined && { user }), ...(customer !== undefined && { customer }) };
}

function parseCustomer(node: YamlNode, report: Reporter): ValueObject | undefined {
  if (node.kind === "scalar" && node.value === NONE) return undefined;
  return readObject(report, node, "`customer`");
}

function customerOf(user: ValueObject | undefined): ValueObject | undefined {
  const id = user?.["customer_id"];
  return id === undefined ? undefined : { id };
}
