import type { Route } from "../../../src/control/platform/frame/route.ts";
import { BODIES, type References } from "./bodies.ts";
import type { Seeded } from "./seed.ts";

/** `GET /customers/{id}`. */
export function nameOf({ method, path }: Route): string {
  return `${method.toUpperCase()} ${path}`;
}

/** The names of a route's path parameters. */
export function pathParameters({ path }: Route): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** The names of a route's query parameters. */
export function queryParameters({ query }: Route): string[] {
  return Object.keys((query as { shape?: object } | undefined)?.shape ?? {});
}

/** The route's path with one value for each parameter. */
export function pathWith({ path }: Route, value: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}

/** What a path parameter of a route names, of what was seeded. */
export function idFor({ path }: Route, name: string, of: Seeded & { readonly person?: string }): string {
  if (name === "policy_id") return of.policy;
  if (name === "delivery_id") return of.delivery;
  if (name === "version") return "v1";
  if (name === "name") return of.policySet;
  if (name === "key") return of.user;
  const resource = path.split("/")[1] ?? "";
  const ids: Readonly<Record<string, string>> = {
    customers: of.customer,
    users: of.user,
    policies: of.policy,
    webhooks: of.webhook,
    sessions: of.session,
  };
  // of what belongs to no customer there are none
  return ids[resource] ?? "none_00000000000000000000000000";
}

/** A valid body, where the route takes one. */
export function bodyOf({ operation, body }: Route, of: References): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const make = BODIES[operation];
  if (make === undefined) throw new Error(`test/control/support/bodies.ts has none for ${operation}`);
  const made = make(of);
  body.parse(made);
  return made;
}
