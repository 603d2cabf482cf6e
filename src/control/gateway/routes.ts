import type { ControlContext } from "../context.ts";
import { findCustomer } from "../customers/store.ts";
import { ApiError } from "../errors.ts";
import { ok, readRoute, type Route } from "../frame/route.ts";
import { requireActiveVersion } from "../policy-sets/service.ts";
import { effectiveAttributes, findUser } from "../users/store.ts";
import type { GatewayFeed } from "./feed.ts";
import {
  policySetData,
  policySetParams,
  stateData,
  stateQuery,
  userAttributesData,
  userParams,
} from "./schemas.ts";

const common = { tag: "Gateway", group: "gateway", permission: "gateway", tenancy: "all" } as const;

/** What gateways follow and look up. */
export function gatewayRoutes({ db }: ControlContext, feed: GatewayFeed): Route[] {
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/gateway/state",
      operation: "followState",
      summary: "Follow what gateways judge by",
      description:
        "Without `after`, or with a cursor that is too old: the complete state, as far as it differs from active customers without policies, active users and sessions that go on. With it: what has changed since; `wait` seconds are waited for a first change.",
      query: stateQuery,
      answers: { 200: stateData },
      async read(call) {
        const { query, signal } = call;
        const state = await feed.read(query.after, query.wait * 1000, signal);
        if (query.wait > 0) await call.identifyAgain();
        return ok(state);
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/gateway/policy-sets/{name}",
      operation: "getActivePolicySet",
      summary: "Read the active version of a policy set",
      params: policySetParams,
      answers: { 200: policySetData },
      errors: ["POLICY_SET_NOT_FOUND"],
      read: async ({ params }) => ok(await requireActiveVersion(db, params.name)),
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/gateway/users/{key}",
      operation: "lookUpUser",
      summary: "Look up the attributes of a user",
      params: userParams,
      answers: { 200: userAttributesData },
      errors: ["USER_NOT_FOUND"],
      async read({ params }) {
        const row = await findUser(db, params.key);
        if (row === undefined || (await findCustomer(db, row.customer_id)) === undefined)
          throw new ApiError("USER_NOT_FOUND", { details: { user_id: params.key } });
        return ok({ ...effectiveAttributes(row), status: row.status });
      },
    }),
  ];
}
