import * as z from "zod";
import { apiKeyRoutes } from "../../src/control/resources/api-keys/routes.ts";
import { createApiKey, type ApiKeyRow, type NewApiKey } from "../../src/control/resources/api-keys/store.ts";
import { createAuthenticator } from "../../src/control/authenticator.ts";
import type { Actor, Role } from "../../src/control/platform/actor.ts";
import { replaceSetupLink } from "../../src/control/resources/dashboard-users/links.ts";
import { dashboardRoutes } from "../../src/control/resources/dashboard-users/routes.ts";
import { setupRouter } from "../../src/control/resources/dashboard-users/setup-page.ts";
import { ok, readRoute, writeRoute, type Route } from "../../src/control/platform/frame/route.ts";
import { newId } from "../../src/control/platform/ids.ts";
import type { UnitOrigin } from "../../src/control/platform/unit.ts";
import { startControl, type Answered, type ControlOptions, type RunningControl } from "./control.ts";

export const PASSWORD = "Tr0mpete & Nebel";

/** Where changes of a test itself come from. */
export const OPERATOR: UnitOrigin = {
  actor: { kind: "system", id: "test", name: "test" },
  requestId: "req_test",
  clientIp: "127.0.0.1",
};

/** Somebody who is signed in to the dashboard. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly cookie: string;
  readonly csrf: string;
  /** The cookie by which the browser is known; {@link headers} are those of a browser that has lost it. */
  readonly device: string;
  /** What the dashboard sends along with each request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The API with the real authenticator, the routes of keys and dashboard, and `/probe`, which tells who asks. */
export function startGuardedControl(options: ControlOptions = {}): Promise<RunningControl> {
  return startControl({
    authenticator: createAuthenticator,
    routes: (context) => [...apiKeyRoutes(context), ...dashboardRoutes(context), ...probes()],
    beside: () => [setupRouter()],
    ...options,
  });
}

/** Sends what a browser or a program sends: only the headers that are given. */
export function send(
  control: RunningControl,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): Promise<Answered> {
  return control.request(method, path, { as: null, headers, ...(body !== undefined && { body }) });
}

export function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

/** Makes a key as the command line does. */
export function makeKey(
  { context }: Pick<RunningControl, "context">,
  fields: Partial<NewApiKey> = {},
): Promise<{ row: ApiKeyRow; secret: string }> {
  const { environment } = context.settings;
  return context.units(OPERATOR, (unit) =>
    createApiKey(unit, { environment, name: "a key", scope: "full_access", ...fields }),
  );
}

/** Puts a customer there, whatever the resource's own rules are. */
export async function makeCustomer({ context }: RunningControl, name = "Acme"): Promise<string> {
  const id = newId("customer");
  const now = new Date(context.clock());
  await context.db("customers").insert({
    id,
    name,
    name_key: name.toLowerCase(),
    status: "active",
    allowed_return_urls: [],
    metadata: JSON.stringify({}),
    created_at: now,
    updated_at: now,
    revision: 1,
  });
  return id;
}

/** A new setup link, in place of an earlier one; `""` where there is an owner. */
export async function newSetupLink({ context }: Pick<RunningControl, "context">): Promise<string> {
  const { db, settings, clock } = context;
  const link = await db.transaction((trx) => replaceSetupLink(trx, settings.publicUrl, new Date(clock())));
  return link?.url ?? "";
}

/** The token of a new setup link. */
export async function setupToken(control: RunningControl): Promise<string> {
  return tokenOf(await newSetupLink(control));
}

export function tokenOf(link: string): string {
  return new URL(link).searchParams.get("token") ?? "";
}

/** Makes the first owner, and signs in. */
export async function makeOwner(control: RunningControl, email = "owner@example.com"): Promise<Person> {
  const token = await setupToken(control);
  await send(control, "POST", "/dashboard/setup", {}, { token, email, name: "Olga", password: PASSWORD });
  return signIn(control, email);
}

/** Invites somebody, who accepts and signs in. */
export async function makePerson(control: RunningControl, owner: Person, role: Role): Promise<Person> {
  const email = `${role}-${newId("dashboardUser").slice(-6)}@example.com`;
  const invited = await send(control, "POST", "/dashboard/users", owner.headers, { email, name: role, role });
  const { invitation } = (invited.body as { data: { invitation: { url: string } } }).data;
  const token = tokenOf(invitation.url);
  await send(control, "POST", "/dashboard/invitation", {}, { token, password: PASSWORD });
  return signIn(control, email);
}

export async function signIn(control: RunningControl, email: string, password = PASSWORD): Promise<Person> {
  const answer = await send(control, "POST", "/dashboard/login", {}, { email, password });
  if (answer.status !== 200) throw new Error(`${email} cannot sign in: ${answer.text}`);
  const cookie = cookieOf(answer);
  const { csrf_token: csrf, user } = (answer.body as { data: { csrf_token: string; user: { id: string } } })
    .data;
  const device = deviceOf(answer);
  return { id: user.id, email, cookie, csrf, device, headers: { cookie, "x-csrf-token": csrf } };
}

/** `name=value` of the cookie that an answer sets. */
export function cookieOf({ headers }: Answered): string {
  return (headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
}

/** `name=value` of the cookie by which an answer makes the browser known. */
export function deviceOf({ headers }: Answered): string {
  const set = headers.getSetCookie().find((cookie) => /^(__Host-)?gatehouse_device/.test(cookie));
  return (set ?? "").split(";")[0] ?? "";
}

function probes(): Route[] {
  const shared = { tag: "probe", group: "management", tenancy: "handler" } as const;
  const answers = { 200: z.record(z.string(), z.unknown()) };
  const tell = (actor: Actor) => ok({ ...actor });
  return [
    readRoute({
      ...shared,
      method: "get",
      path: "/probe",
      operation: "probe",
      summary: "Tell who asks",
      permission: "read",
      answers,
      read: ({ actor }) => Promise.resolve(tell(actor)),
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/probe",
      operation: "change",
      summary: "Change something",
      permission: "configure",
      answers,
      write: ({ actor }) => Promise.resolve(tell(actor)),
    }),
  ];
}
