import { DATA } from "./fake-data.ts";
import type { FakeState } from "./state.ts";
import { merged, newId, Refused, type Row, type Table } from "./store.ts";
import { problemsOf, textOf, type Json, type JsonObject } from "./validate.ts";

/** A request that was read and found valid. */
export interface FakeRequest {
  /** In the order of the path. */
  readonly ids: readonly string[];
  readonly body: JsonObject;
  readonly query: Readonly<Record<string, string>>;
  /** Refuses the request, unless the row is the one that the caller has seen. */
  matches(row: Row): Row;
}

export type FakeResult =
  | { readonly status?: number; readonly row: Row; readonly with?: JsonObject }
  | { readonly status?: number; readonly data: Json }
  | { readonly list: readonly Row[] };

type Handler = (request: FakeRequest) => FakeResult;

/** Members whose names are free: PATCH merges them. */
const MAPS: ReadonlySet<string> = new Set(["metadata", "role_mapping", "attributes", "conditions"]);
const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  active: ["active", "suspended", "archived"],
  suspended: ["active", "suspended", "archived"],
  archived: ["active", "archived"],
};

/** What each operation does, by its id. */
export function handlersOf(state: FakeState): Readonly<Record<string, Handler>> {
  const { customers, users, policies, sessions, webhooks, apiKeys, feed } = state;
  const all = (table: Table) => () => ({ list: [...table.rows.values()] });
  const get = (table: Table) => (request: FakeRequest) => ({ row: table.get(request.ids[0] ?? "") });

  /** PUT and PATCH: they differ in the members with free names. */
  const change =
    (
      table: Table,
      isPatch: boolean,
      check: (row: Row, members: JsonObject) => void = () => undefined,
      after: (row: Row, changed: readonly string[]) => void = () => undefined,
    ): Handler =>
    (request) => {
      const row = request.matches(table.get(request.ids[0] ?? ""));
      const members = Object.fromEntries(
        Object.entries(request.body).map(([name, value]) => [
          name,
          isPatch && MAPS.has(name) ? merged(row.data[name], value) : value,
        ]),
      );
      check(row, members);
      const changed = table.change(row, members);
      if (changed.length > 0) after(row, changed);
      return { row };
    };

  const remove =
    (table: Table, before: (id: string, row: Row) => void = () => undefined): Handler =>
    (request) => {
      const [id = ""] = request.ids;
      before(id, request.matches(table.get(id)));
      table.rows.delete(id);
      return { data: { id, deleted: true } };
    };

  function requireFree(table: Table, members: JsonObject, except?: Row): void {
    const [name] = Object.keys(members);
    const isTaken = [...table.rows.values()].some(
      (row) => row !== except && Object.entries(members).every(([key, value]) => row.data[key] === value),
    );
    if (isTaken) throw new Refused("DUPLICATE", { field: name ?? "" });
  }

  function checkCustomer(row: Row, members: JsonObject): void {
    const [from, to] = [textOf(row.data["status"]), textOf(members["status"] ?? row.data["status"])];
    if (TRANSITIONS[from]?.includes(to) !== true) throw new Refused("INVALID_TRANSITION", { from, to });
    const external = members["external_id"] ?? null;
    if (external !== null) requireFree(customers, { external_id: external }, row);
  }

  function customerChanged(row: Row, changed: readonly string[]): void {
    const [customerId, status] = [textOf(row.data["id"]), textOf(row.data["status"])];
    const customer = shown(row, "id", "name", "status");
    feed.add("customer.updated", { customer, detail: changed.join(", ") }, { customerId });
    if (!changed.includes("status")) return;
    if (status === "suspended") feed.add("customer.suspended", { customer }, { customerId });
    if (status !== "active")
      state.endSessions((data) => data["customer_id"] === customerId, `customer_${status}`);
  }

  function customerDeleted(id: string, row: Row): void {
    for (const key of apiKeys.rows.values()) if (key.data["customer_id"] === id) revokeKey(key);
    const customer = { ...shown(row, "id", "name"), status: "deleted" };
    feed.add("customer.updated", { customer, detail: "deleted" }, { customerId: id });
    state.endSessions((data) => data["customer_id"] === id, "customer_deleted");
    state.eraseSessions((data) => data["customer_id"] === id);
    for (const table of [users, webhooks, apiKeys]) table.remove((data) => data["customer_id"] === id);
    state.assigned.delete(id);
  }

  function checkUser(row: Row, { attributes }: JsonObject): void {
    if (attributes !== undefined) row.data["effective_attributes"] = attributes;
  }

  function userChanged({ data: { id, status } }: Row): void {
    if (status === "suspended") state.endSessions((data) => data["user_id"] === id, "user_suspended");
  }

  function userDeleted(id: string, { data: { customer_id } }: Row): void {
    state.endSessions((data) => data["user_id"] === id, "user_deleted");
    const customerId = textOf(customer_id);
    feed.add("user.deleted", { user: { id, customer_id: customerId } }, { customerId, userId: id });
    state.eraseSessions((data) => data["user_id"] === id);
  }

  function policyChanged(row: Row, changed: readonly string[]): void {
    feed.add("policy.updated", { policy: shown(row, "id", "name", "type"), detail: changed.join(", ") });
  }

  function policyDeleted(id: string, row: Row): void {
    const assigned = [...state.assigned.values()].filter((found) => found.has(id)).length;
    if (assigned > 0) throw new Refused("CONFLICT", { policy_id: id, customers: assigned });
    policyChanged(row, ["deleted"]);
  }

  function checkPolicy(row: Row, { type = row.data["type"] ?? null, conditions }: JsonObject): void {
    const wrong = (path: string, message: string) =>
      new Refused("VALIDATION_FAILED", { fields: [{ path, message }] });
    if (type !== row.data["type"]) throw wrong("type", "cannot change");
    if (conditions === undefined) return;
    const kind = type === "authentication" ? "AuthenticationConditions" : "AuthorizationConditions";
    const [problem] = problemsOf(conditions, DATA.schemas[kind] ?? {}, "conditions");
    if (problem !== undefined) throw wrong(problem.path, problem.message);
  }

  /** In a body, what is not there is a field that is not valid. */
  function requirePolicies(ids: readonly string[]): void {
    const fields = ids.flatMap((id, index) =>
      policies.rows.has(id) ? [] : [{ path: `policy_ids.${index}`, message: "the policy does not exist" }],
    );
    if (fields.length > 0) throw new Refused("VALIDATION_FAILED", { fields });
  }

  function assignedTo(customerId: string): readonly Row[] {
    const found = state.assigned.get(customerId) ?? new Map<string, string>();
    return [...found].map(([id, assigned_at]) => {
      const row = policies.get(id);
      return { ...row, data: { ...row.data, assigned_at } };
    });
  }

  /** @returns the end of a key, as it is answered */
  function endOf({ expires_at: end }: JsonObject): JsonObject {
    if (typeof end !== "string") return end === null ? { expires_at: null } : {};
    const expires_at = new Date(end).toISOString();
    if (expires_at > apiKeys.now()) return { expires_at };
    throw new Refused("VALIDATION_FAILED", {
      fields: [{ path: "expires_at", message: "must be in the future" }],
    });
  }

  function checkKey({ data }: Row, { expires_at: asked }: JsonObject): void {
    if (data["status"] === "revoked") throw new Refused("CONFLICT");
    const { rolled_to = null, expires_at: end = null } = data;
    const isSooner = typeof asked === "string" && typeof end === "string" && asked <= end;
    if (rolled_to !== null && asked !== undefined && !isSooner)
      throw new Refused("CONFLICT", { rolled_to, expires_at: end });
  }

  const changeKey =
    (isPatch: boolean): Handler =>
    (request) => {
      const body = { ...request.body, ...endOf(request.body) };
      return change(apiKeys, isPatch, checkKey)({ ...request, body });
    };

  function makeKey(fields: JsonObject, from?: Row): FakeResult {
    const id = newId("key");
    const key = `gh_test_${newId("").slice(2)}`;
    const row = apiKeys.insert({
      ...{ id, customer_id: null, permissions: [], allowed_addresses: [], expires_at: null },
      ...fields,
      ...{
        environment: "sandbox",
        hint: key.slice(-4),
        status: "active",
        last_used_at: null,
        revoked_at: null,
      },
      created_by: { kind: "dashboard_user", id: "adm_fake", name: "fake" },
      ...{ family_id: from?.data["family_id"] ?? id, rolled_from: from?.data["id"] ?? null, rolled_to: null },
    });
    announceKey("api_key.created", row);
    return { status: 201, row, with: { key } };
  }

  function revokeKey(row: Row): void {
    if (row.data["status"] !== "active") return;
    apiKeys.change(row, { status: "revoked", revoked_at: apiKeys.now() });
    announceKey("api_key.revoked", row);
  }

  function announceKey(type: "api_key.created" | "api_key.revoked", row: Row): void {
    const customerId = row.data["customer_id"];
    const subject = typeof customerId === "string" ? { customerId } : {};
    feed.add(type, { api_key: shown(row, "id", "name", "scope") }, subject);
  }

  const newSecret = () => `whsec_${Buffer.from(newId("x")).toString("base64")}`;
  const eventsOf = ({ events }: JsonObject): JsonObject =>
    events === undefined ? {} : { events: events === "*" ? ["*"] : events };
  const changeWebhook =
    (isPatch: boolean): Handler =>
    (request) => {
      const { enabled } = request.body;
      const { data } = webhooks.get(request.ids[0] ?? "");
      const body: JsonObject = { ...request.body, ...eventsOf(request.body) };
      if (enabled !== undefined && enabled !== data["enabled"]) {
        body["disabled_reason"] = enabled === true ? null : "requested";
        body["disabled_at"] = enabled === true ? null : webhooks.now();
      }
      return change(webhooks, isPatch)({ ...request, body });
    };

  return {
    listCustomers: all(customers),
    createCustomer({ body: { policy_ids = [], ...fields } }) {
      const external = fields["external_id"] ?? null;
      if (external !== null) requireFree(customers, { external_id: external });
      const wanted = [
        ...(policy_ids as string[]),
        ...[...policies.rows.values()].flatMap(({ data }) =>
          data["assign_to_new_customers"] === true ? [textOf(data["id"])] : [],
        ),
      ];
      requirePolicies(wanted);
      const row = customers.insert({ id: newId("cus"), metadata: {}, role_mapping: {}, ...fields });
      const customerId = textOf(row.data["id"]);
      state.assigned.set(customerId, new Map(wanted.map((id) => [id, customers.now()])));
      feed.add("customer.created", { customer: shown(row, "id", "name", "status") }, { customerId });
      return { status: 201, row };
    },
    getCustomer: get(customers),
    updateCustomer: change(customers, false, checkCustomer, customerChanged),
    patchCustomer: change(customers, true, checkCustomer, customerChanged),
    deleteCustomer: remove(customers, customerDeleted),

    listUsers: all(users),
    listUsersOfCustomer({ ids: [id = ""] }) {
      customers.get(id);
      return { list: [...users.rows.values()].filter(({ data }) => data["customer_id"] === id) };
    },
    createUser({ ids: [customer_id = ""], body }) {
      customers.get(customer_id);
      requireFree(users, { subject: body["subject"] ?? null, customer_id });
      const attributes = body["attributes"] ?? {};
      const row = users.insert({
        ...{
          id: newId("usr"),
          customer_id,
          issuer: null,
          email: null,
          name: null,
          status: "active",
          profile: {},
        },
        ...{ dropped_claims: [], attributes, effective_attributes: attributes, last_sign_in_at: null },
        ...body,
      });
      return { status: 201, row };
    },
    getUser: get(users),
    updateUser: change(users, false, checkUser, userChanged),
    patchUser: change(users, true, checkUser, userChanged),
    deleteUser: remove(users, userDeleted),

    listPolicies: all(policies),
    createPolicy: ({ body }) => ({ status: 201, row: policies.insert({ id: newId("pol"), ...body }) }),
    getPolicy: get(policies),
    updatePolicy: change(policies, false, checkPolicy, policyChanged),
    patchPolicy: change(policies, true, checkPolicy, policyChanged),
    deletePolicy: remove(policies, policyDeleted),
    listCustomerPolicies({ ids: [id = ""] }) {
      customers.get(id);
      return { list: assignedTo(id) };
    },
    assignPolicies({ ids: [id = ""], body }) {
      customers.get(id);
      const wanted = body["policy_ids"] as string[];
      requirePolicies(wanted);
      const found = state.assigned.get(id) ?? new Map<string, string>();
      for (const policy of wanted) if (!found.has(policy)) found.set(policy, policies.now());
      state.assigned.set(id, found);
      return { data: assignedTo(id).map(({ data }) => data) };
    },
    unassignPolicy({ ids: [customer_id = "", policy_id = ""] }) {
      customers.get(customer_id);
      if (state.assigned.get(customer_id)?.delete(policy_id) !== true) throw new Refused("POLICY_NOT_FOUND");
      return { data: { customer_id, policy_id, assigned: false } };
    },
    listPolicyCustomers({ ids: [id = ""] }) {
      policies.get(id);
      const list = [...customers.rows.values()].flatMap((row) => {
        const assigned_at = state.assigned.get(textOf(row.data["id"]))?.get(id);
        const { id: customer = null, name = null, status = null } = row.data;
        return assigned_at === undefined
          ? []
          : [{ ...row, data: { id: customer, name, status, assigned_at } }];
      });
      return { list };
    },

    listSessions: all(sessions),
    getSession: get(sessions),
    revokeSession({ ids: [id = ""] }) {
      const row = sessions.get(id);
      state.endSession(row, "revoked");
      return { row };
    },

    listWebhooks: all(webhooks),
    createWebhook({ body: { secret = newSecret(), ...fields } }) {
      if (typeof fields["customer_id"] === "string") customers.get(fields["customer_id"]);
      const disabled = fields["enabled"] === false;
      const row = webhooks.insert({
        id: newId("whk"),
        ...fields,
        ...eventsOf(fields),
        ...{ disabled_reason: disabled ? "requested" : null, disabled_at: disabled ? webhooks.now() : null },
        ...{ previous_secret_expires_at: null, paused_until: null },
      });
      return { status: 201, row, with: { secret } };
    },
    getWebhook: get(webhooks),
    updateWebhook: changeWebhook(false),
    patchWebhook: changeWebhook(true),
    deleteWebhook: remove(webhooks),
    rotateWebhookSecret({ ids: [id = ""], body: { secret = newSecret(), overlap_seconds = 0 } }) {
      const row = webhooks.get(id);
      const end = new Date(Date.parse(webhooks.now()) + Number(overlap_seconds) * 1000).toISOString();
      webhooks.change(row, { previous_secret_expires_at: overlap_seconds === 0 ? null : end });
      return { row, with: { secret } };
    },
    enableWebhook({ ids: [id = ""] }) {
      const row = webhooks.get(id);
      webhooks.change(row, { enabled: true, disabled_reason: null, disabled_at: null });
      return { row };
    },

    listApiKeys: all(apiKeys),
    createApiKey: ({ body }) => makeKey({ ...body, ...endOf(body) }),
    getApiKey: get(apiKeys),
    updateApiKey: changeKey(false),
    patchApiKey: changeKey(true),
    rollApiKey(request) {
      const row = request.matches(apiKeys.get(request.ids[0] ?? ""));
      if (row.data["status"] !== "active" || row.data["rolled_to"] !== null) throw new Refused("CONFLICT");
      const { name, scope, customer_id, permissions, allowed_addresses } = row.data as Record<string, Json>;
      const next = makeKey(
        { name, scope, customer_id, permissions, allowed_addresses } as JsonObject,
        row,
      ) as FakeResult & { readonly row: Row; readonly with: JsonObject };
      const overlap = Number(request.body["overlap"] ?? 0);
      const end = new Date(Date.parse(apiKeys.now()) + overlap * 1000).toISOString();
      const own = row.data["expires_at"];
      const expires_at = typeof own === "string" && own < end ? own : end;
      apiKeys.change(row, { rolled_to: next.row.data["id"] ?? null, expires_at });
      if (overlap === 0) revokeKey(row);
      return { ...next, with: { ...next.with, previous: row.data } };
    },
    revokeApiKey(request) {
      const row = request.matches(apiKeys.get(request.ids[0] ?? ""));
      revokeKey(row);
      return { row };
    },

    getEventFeed: ({ query }) => ({ data: feed.read(query) }),
  };
}

/** The members of a resource that its events have. */
function shown({ data }: Row, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, data[name] ?? null]));
}
