import type { Knex } from "knex";
import { onlyCustomerOf } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { requireCustomer, requireCustomerShared } from "../tenancy/customers.ts";
import { ApiError, validationFailed } from "../platform/errors.ts";
import { readPage } from "../platform/frame/list.ts";
import { created, ok, page, readRoute, writeRoute, type Route } from "../platform/frame/route.ts";
import { tokenAnswer } from "../sign-in/schemas.ts";
import {
  deletePerson,
  findPersonByEmail,
  insertPerson,
  peopleFor,
  peopleOf,
  type PersonRow,
} from "./people.ts";
import { prepareReset, reset, type FillingParts } from "./reset.ts";
import {
  deletedPerson,
  newPerson,
  peopleList,
  person,
  personPath,
  seeded,
  tokensBody,
  type TokensBody,
} from "./schemas.ts";
import { signInHeadless, type HeadlessSignIn } from "./sign-in.ts";

const COLUMNS = { id: "id", created_at: "created_at", name: "name", email: "email" };

const common = { tag: "Sandbox", group: "management", permission: "sandbox" } as const;

/** What exists in the sandbox alone: its people, tokens without a browser, and a new beginning. */
export function sandboxRoutes(context: ControlContext, parts: FillingParts): Route[] {
  const { keyring } = parts;
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/sandbox/people",
      operation: "listPeople",
      summary: "List the sandbox's people",
      tenancy: "handler",
      query: peopleList,
      answers: { 200: person.array() },
      paginated: true,
      errors: ["INVALID_CUSTOMER"],
      async read({ query, actor }) {
        const { customer_id: customerId } = query;
        if (customerId !== undefined) await requireCustomer(context.db, actor, customerId, "path");
        const found =
          customerId === undefined ? peopleFor(context.db, actor) : peopleOf(context.db, customerId);
        if (query.role !== undefined) void found.where({ role: query.role });
        if (query.email !== undefined) void found.where({ email: query.email });
        const { rows, total } = await readPage<PersonRow>(found.select("*"), query, COLUMNS);
        return page(rows, { ...query, total });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/sandbox/people",
      operation: "createPerson",
      summary: "Add a person",
      tenancy: "handler",
      body: newPerson,
      answers: { 201: person },
      errors: ["INVALID_CUSTOMER", "DUPLICATE"],
      async write({ body, actor }, unit) {
        const customerId = body.customer_id ?? onlyCustomerOf(actor) ?? null;
        // its deletion, which erases its people, waits for this one
        if (customerId !== null) await requireCustomerShared(unit.trx, actor, customerId, "body");
        return created(await insertPerson(unit, { ...body, customer_id: customerId }));
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/sandbox/people/{id}",
      operation: "deletePerson",
      summary: "Remove a person",
      description: "Existing users and sessions are not removed.",
      tenancy: "handler",
      params: personPath,
      answers: { 200: deletedPerson },
      errors: ["PERSON_NOT_FOUND"],
      async write({ params, actor }, unit) {
        const { id } = await deletePerson(unit, actor, params.id);
        return ok({ id, deleted: true });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/sandbox/tokens",
      operation: "signInHeadless",
      summary: "Sign in a person without a browser",
      description:
        "Returns the same as `POST /auth/token`. User, session, events and policies work as in a real sign-in. Can also issue an access token that has already expired.",
      tenancy: "handler",
      body: tokensBody,
      answers: { 200: tokenAnswer },
      errors: [
        "INVALID_CUSTOMER",
        "CUSTOMER_SUSPENDED",
        "USER_SUSPENDED",
        "POLICY_VIOLATED",
        "SESSION_ENDED",
      ],
      // before the transaction: it may need a connection of its own
      prepare: () => keyring.signingKey(),
      async write({ body, actor, clientIp, userAgent }, unit, key) {
        await requireCustomer(unit.trx, actor, body.customer_id, "body");
        const who = await subjectOf(unit.trx, body);
        const { customer_id: customerId, scopes, expires_in: expiresIn } = body;
        return signInHeadless(context, unit, key, {
          ...{ customerId, scopes, expiresIn, clientIp, userAgent },
          ...who,
        });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/sandbox/reset",
      operation: "resetSandbox",
      summary: "Reset the sandbox",
      description:
        "Removes everything except dashboard users, their sessions, and API keys that are not limited to a customer; then seeds the sandbox as at its first start. Does all of this or nothing; only one reset runs at a time.",
      tenancy: "all",
      answers: { 200: seeded },
      prepare: () => prepareReset(context, parts),
      write: async (_call, unit, prepared) => ok(await reset(context, parts, unit, prepared)),
    }),
  ];
}

/** @throws ApiError 422 for a login that nobody at the customer has */
async function subjectOf(
  trx: Knex.Transaction,
  { customer_id: customerId, login, person: described }: TokensBody,
): Promise<Pick<HeadlessSignIn, "subject" | "person">> {
  if (described !== undefined) return { subject: `unlisted:${described.email}`, person: described };
  if (login === undefined) throw new ApiError("VALIDATION_FAILED");
  const found = await findPersonByEmail(trx, customerId, login);
  if (found === undefined)
    throw validationFailed([
      { path: "login", message: "is not the e-mail address of a person at the customer" },
    ]);
  return { subject: found.id, person: found };
}
