import {
  callerData,
  callerParams,
  GATEWAY_ROUTES,
  policySetData,
  policySetParams,
  policySetVersionParams,
  stateData,
  stateQuery,
  userData,
  userParams,
} from "../../protocol/index.ts";
import { createUseNotes } from "../platform/authentication/last-use.ts";
import type { ControlContext } from "../platform/context.ts";
import { findCustomer } from "../tenancy/customers.ts";
import { ApiError } from "../platform/errors.ts";
import { ok, readRoute, type Route } from "../platform/frame/route.ts";
import { findPresentedKeys, statusOfKey } from "../resources/api-keys/store.ts";
import { requireActiveVersion, requireVersion } from "../resources/policy-sets/service.ts";
import { claimPolicyOf } from "../tenancy/claim-policy.ts";
import { effectiveAttributes, findUser } from "../resources/users/store.ts";
import type { GatewayFeed } from "./feed.ts";

const common = { tag: "Gateway", group: "gateway", permission: "gateway", tenancy: "all" } as const;

/** The change feed and the look-ups of gateways. */
export function gatewayRoutes(context: ControlContext, feed: GatewayFeed): Route[] {
  const { db, settings, clock } = context;
  const noteUse = createUseNotes(context);
  return [
    readRoute({
      ...common,
      method: "get",
      path: GATEWAY_ROUTES.state,
      operation: "followState",
      summary: "Sync the state that gateways decide by",
      description:
        "Without `after`, or with a cursor that is too old: the complete state, as far as it differs from active customers without policies, active users and open sessions. With `after`: the changes since then, in commit order; the request waits up to `wait` seconds for the first change. Many changes are split into pages: `more` means that another page follows `cursor`. With `pages`, a complete state also comes in pages: the first one is `complete`, and nothing of it counts before the last one has arrived. Compressed for clients that accept gzip.",
      query: stateQuery,
      answers: { 200: stateData },
      async read(call) {
        const { query, signal } = call;
        const { state, waited } = await feed.read(
          query.after,
          query.wait * 1000,
          signal,
          query.pages !== undefined,
        );
        // without a wait, the caller has just been identified
        if (waited) await call.identifyAgain();
        if (query.wait > 0) await feed.turn();
        return { kind: "serialized", data: state.data };
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: GATEWAY_ROUTES.policySet,
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
      path: GATEWAY_ROUTES.policySetVersion,
      operation: "getPolicySetVersionForGateway",
      summary: "Read a version of a policy set, such as the candidate of a rollout",
      params: policySetVersionParams,
      answers: { 200: policySetData },
      errors: ["POLICY_SET_NOT_FOUND"],
      read: async ({ params: { name, version } }) => ok(await requireVersion(db, name, version)),
    }),
    readRoute({
      ...common,
      method: "get",
      path: GATEWAY_ROUTES.user,
      operation: "lookUpUser",
      summary: "Look up the attributes of a user",
      params: userParams,
      answers: { 200: userData },
      errors: ["USER_NOT_FOUND"],
      async read({ params }) {
        const row = await findUser(db, params.key);
        const customer = row && (await findCustomer(db, row.customer_id));
        if (row === undefined || customer === undefined)
          throw new ApiError("USER_NOT_FOUND", { details: { user_id: params.key } });
        const policy = claimPolicyOf(settings, customer, row.issuer);
        return ok({ ...effectiveAttributes(row, policy), status: row.status });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: GATEWAY_ROUTES.caller,
      operation: "lookUpCaller",
      summary: "Look up the caller whom an API key names",
      description:
        "By the SHA-256 of the key's text: the key itself is never sent. Found are active keys of the scope `caller` whose customer exists.",
      params: callerParams,
      answers: { 200: callerData },
      errors: ["API_KEY_NOT_FOUND"],
      async read({ params: { hash } }) {
        const now = new Date(clock());
        const key = (await findPresentedKeys(db, [hash])).get(hash);
        if (
          key?.scope !== "caller" ||
          key.customer_id === null ||
          key.orphaned ||
          statusOfKey(key, now) !== "active"
        )
          throw new ApiError("API_KEY_NOT_FOUND");
        noteUse({ table: "api_keys", id: key.id, last: key.last_used_at }, now);
        const { id, name, customer_id, permissions, expires_at } = key;
        return ok({
          hash,
          id,
          name,
          customer_id,
          permissions,
          expires_at: expires_at?.toISOString() ?? null,
        });
      },
    }),
  ];
}
