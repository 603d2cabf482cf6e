import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { ROLES, SCOPES } from "../../../src/control/platform/actor.ts";
import { ok, type Route } from "../../../src/control/platform/frame/route.ts";
import { dashboardRoutes } from "../../../src/control/resources/dashboard-users/routes.ts";
import { createGatewayFeed, type GatewayFeed } from "../../../src/control/gateway/feed.ts";
import { allRoutes } from "../../../src/control/routes.ts";
import type { Answered, RunningControl } from "../../support/control.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  makeOwner,
  makePerson,
  send,
  startGuardedControl,
} from "../../support/guarded-control.ts";

/**
 * Who may use which route, seen from outside: one line a route. Look at each line that changes; then write it anew with
 * `GATEHOUSE_WRITE_GOLDEN=1 npx mocha test/control/whole-api/permissions.test.ts`.
 */
const GOLDEN = new URL("permissions.golden.txt", import.meta.url);

/** Somebody who asks, and how a refusal names the kind of leave that is missing. */
interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly code?: "INSUFFICIENT_SCOPE" | "INSUFFICIENT_ROLE";
  readonly required?: "required_scope" | "required_role";
}

describe("permissions", () => {
  let control: RunningControl;
  let callers: readonly Caller[];
  let routes: readonly Route[] = [];
  let feed: GatewayFeed;

  before(async () => {
    control = await startGuardedControl({
      routes(context, shared) {
        feed = createGatewayFeed(context);
        routes = allRoutes(context, { feed, ...shared });
        const own = dashboardRoutes(context);
        // under a prefix of their own, so that the callers can come in
        return [...own, ...routes.map(reached).map((route) => ({ ...route, path: `/all${route.path}` }))];
      },
    });
    const owner = await makeOwner(control);
    const people = {
      owner,
      admin: await makePerson(control, owner, "admin"),
      viewer: await makePerson(control, owner, "viewer"),
    };
    const keys = await Promise.all(
      SCOPES.map(async (scope): Promise<Caller> => {
        const customerId = await makeCustomer(control, `of ${scope}`);
        const { secret } = await makeKey(control, { scope, ...(scope === "caller" && { customerId }) });
        return {
          name: scope,
          headers: bearer(secret),
          code: "INSUFFICIENT_SCOPE",
          required: "required_scope",
        };
      }),
    );
    callers = [
      { name: "anybody", headers: {} },
      ...keys,
      ...ROLES.map((role): Caller => {
        const { headers } = people[role];
        return { name: role, headers, code: "INSUFFICIENT_ROLE", required: "required_role" };
      }),
    ];
  });
  after(async () => {
    await feed.close();
    await control.close();
  });

  it("are those of the committed table, for every route, scope and role", async () => {
    assert.ok(routes.length > 0);
    const lines: string[] = [];
    for (const route of routes) lines.push(await lineOf(route));
    const table = `${lines.sort().join("\n")}\n`;
    if (process.env["GATEHOUSE_WRITE_GOLDEN"] !== undefined) writeFileSync(GOLDEN, table);
    assert.equal(table, readFileSync(GOLDEN, "utf8"));
  });

  it("are asked for before anything of the request is looked at", async () => {
    const reader = callers.find(({ name }) => name === "read_only");
    for (const headers of [{ accept: "text/plain" }, { "content-type": "text/plain" }, { "if-match": "x" }]) {
      const answer = await send(control, "POST", "/all/customers?x=1&x=2", {
        ...reader!.headers,
        ...headers,
      });
      assert.equal(answer.body.error.code, "INSUFFICIENT_SCOPE");
    }
  });

  /** Asks as everybody, and proves that each refusal names those who would be allowed. */
  async function lineOf(route: Route): Promise<string> {
    const path = `/all${route.path.replace(/\{\w+\}/g, "x")}`;
    const answers = new Map<Caller, Answered>();
    for (const caller of callers)
      answers.set(caller, await send(control, route.method.toUpperCase(), path, caller.headers));
    const allowed = callers.filter((caller) => answers.get(caller)?.body.data?.reached === true);
    const what = `${route.method.toUpperCase()} ${route.path}`;
    for (const [caller, { status, body }] of answers) {
      if (allowed.includes(caller)) continue;
      const { code, required } = caller;
      if (code === undefined || required === undefined) {
        assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"], what);
        continue;
      }
      assert.deepEqual([status, body.error.code], [403, code], `${what} as ${caller.name}`);
      const named = allowed.filter((other) => other.code === code).map(({ name }) => name);
      assert.deepEqual([...body.error.details[required]].sort(), named.sort(), `${what} as ${caller.name}`);
      for (const name of named) assert.ok(body.error.message.includes(`\`${name}\``), body.error.message);
    }
    const names = allowed.length === callers.length ? ["anybody"] : allowed.map(({ name }) => name);
    return `${route.path} ${route.method.toUpperCase()}: ${names.join(" ")}`;
  }
});

/** The route as it is declared, with code that only says that it was reached. */
function reached(route: Route): Route {
  const { path, method, operation, summary, tag, group, permission, tenancy } = route;
  return {
    ...{ path, method, operation, summary, tag, group, permission, tenancy },
    ...(path.includes("{") && { params: z.record(z.string(), z.string()) }),
    answers: { 200: z.object({ reached: z.boolean() }) },
    read: () => Promise.resolve(ok({ reached: true })),
  };
}
