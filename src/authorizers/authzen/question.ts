import { randomUUID } from "node:crypto";
import type { DecodedCheck, DoorCall, UnknownParts } from "../../decision/point/index.ts";
import { isList, isObject, type JsonObject, type JsonValue } from "../../json/index.ts";
import type { RawRequest } from "../../request/index.ts";
import { DESCRIPTIONS, FORWARDING, oneAddress } from "../sub-request.ts";
import { BadRequest, type Entity, type Tuple } from "./tuple.ts";

/** How names of the Authorization API become requests. */
export interface AuthzenSettings {
  /** Where callers reach this service; absent: it publishes no metadata. */
  readonly url?: string;
  /** Names of actions, each with its method. */
  readonly actions: Readonly<Record<string, string>>;
  /** Types of resources, each with its path, in which `{id}` stands for the id. */
  readonly resources: Readonly<Record<string, string>>;
  /** Types of subjects that are users. */
  readonly subjects: readonly string[];
  /** Types of subjects that can be searched, each with the attribute source whose keys are their ids. */
  readonly subjectSources: Readonly<Record<string, string>>;
  /** Customers have policies of their own: nothing is permitted to somebody whose customer is not known. */
  readonly customers: boolean;
}

/** A question about something that is mapped to no request: the answer is no. */
export class UnknownName extends Error {
  override readonly name = "UnknownName";
}

/** The type of a resource that is a path itself. */
export const ROUTE = "route";
/** RFC 9110, section 9.1. */
const METHOD = /^[A-Z]{1,32}$/;

/**
 * A question to the decision point's input. What it leaves out is unknown, not absent.
 *
 * @throws BadRequest, UnknownName
 */
export function checkOf(
  { subject, action, resource, context }: Tuple,
  settings: AuthzenSettings,
  { deadline }: Pick<DoorCall, "deadline">,
): DecodedCheck {
  const { properties } = resource;
  const members = new Set<"client_ip" | "host" | "protocol" | "scheme">(["protocol"]);
  const host = optionalText(properties, "host", "resource.properties");
  const scheme = optionalText(properties, "scheme", "resource.properties");
  const address = optionalText(subject.properties, "ip_address", "subject.properties");
  if (host === undefined) members.add("host");
  if (scheme === undefined) members.add("scheme");
  if (address === undefined) members.add("client_ip");
  const query = optionalText(properties, "query", "resource.properties");
  const headers = headersOf(context["headers"]);
  const unknown: UnknownParts = {
    members,
    identity: true,
    ...(headers === undefined && { headers: "all" }),
    ...(query === undefined && { query: "all" }),
  };
  const unenforceable = whyUnenforceable(subject, settings);
  return {
    access: {
      raw: {
        method: methodOf(action, settings),
        target: `${pathOf(resource, settings)}${query === undefined || query === "" ? "" : `?${query}`}`,
        scheme: scheme ?? "https",
        host: host ?? "unknown.invalid",
        protocol: "HTTP/1.1",
        headers: headers ?? [],
      },
      peer: address === undefined ? "" : addressOf(address),
      requestId: randomUUID(),
      receivedAt: Date.now(),
      deadline,
      caller: callerOf(subject),
      unknown,
    },
    carries: DESCRIPTIONS.carries,
    overwrites: FORWARDING,
    ...(unenforceable !== undefined && { unenforceable }),
  };
}

function methodOf(action: string, { actions }: AuthzenSettings): string {
  const method = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (method !== undefined) return method;
  if (METHOD.test(action)) return action;
  throw new UnknownName(`no method is configured for the action \`${action}\` (authz.authzen.actions)`);
}

function pathOf({ type, id = "" }: Entity, { resources }: AuthzenSettings): string {
  if (type === ROUTE) {
    if (!id.startsWith("/") || /[?#]/.test(id))
      throw new BadRequest("`resource.id` of a route must be a path; a query is `resource.properties.query`");
    return latin1(id);
  }
  const path = Object.hasOwn(resources, type) ? resources[type] : undefined;
  if (path === undefined)
    throw new UnknownName(
      `no path is configured for resources of the type \`${type}\` (authz.authzen.resources)`,
    );
  return path.replace("{id}", () => encodeURIComponent(id));
}

const ANONYMOUS = "anonymous";

function callerOf({ type, id = "", properties }: Entity): NonNullable<DecodedCheck["access"]["caller"]> {
  if (type === ANONYMOUS) return {};
  const { customer, ip_address: _address, ...said } = properties;
  return {
    identity: {
      user: { ...said, id },
      ...(isObject(customer) && { customer }),
      userId: id,
      session: { amr: [] },
      expiresAt: Number.POSITIVE_INFINITY,
    },
  };
}

/** @throws BadRequest for a customer that is neither an object nor `null`, which belongs to none */
function whyUnenforceable(
  { type, properties: { customer } }: Entity,
  { customers, subjects }: AuthzenSettings,
): string | undefined {
  if (type === ANONYMOUS) return undefined;
  if (customer !== undefined && customer !== null && !isObject(customer))
    throw new BadRequest(
      "`subject.properties.customer` must be an object with the customer's `id`, or `null`",
    );
  if (!subjects.includes(type)) return `subjects of the type \`${type}\` are not known`;
  if (!customers || customer === null) return undefined;
  const id = customer?.["id"];
  if (typeof id === "string" && id !== "") return undefined;
  return "it is not known to which customer the subject belongs (`subject.properties.customer`)";
}

function headersOf(value: JsonValue | undefined): RawRequest["headers"] | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw new BadRequest("`context.headers` must be an object");
  return Object.entries(value).flatMap(([name, one]) => {
    const values = isList(one) ? one : [one];
    return values.map((text) => {
      if (typeof text !== "string") throw new BadRequest("`context.headers` must be made of texts");
      return [name.toLowerCase(), latin1(text)] as const;
    });
  });
}

function addressOf(text: string): string {
  try {
    return oneAddress(text);
  } catch {
    throw new BadRequest("`subject.properties.ip_address` must be an IP address");
  }
}

function optionalText(object: JsonObject, name: string, where: string): string | undefined {
  const value = object[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw new BadRequest(`\`${where}.${name}\` must be a text`);
  return value;
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
