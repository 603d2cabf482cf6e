import assert from "node:assert/strict";
import type { GraphqlPlanIR } from "../../../src/policy/plan.ts";
import type { LuaRunner } from "../../support/lua.ts";
import { planOf, ruleOf } from "./plans.ts";
import { startBatches } from "./support.ts";

/** What becomes of a message. */
export interface Action {
  readonly deliver?: string;
  readonly drop?: true;
  readonly reply?: string;
  readonly rule?: string;
  readonly code?: string;
  readonly close?: number;
  readonly reason?: string;
}

const DRIVER = `
local json = require("gatehouse.json")
local graphql_socket = require("gatehouse.graphql_socket")
local sockets = {}
function one(text)
  local order = json.plain(text)
  if order.plan then
    sockets[order.name] = graphql_socket.new(order.plan, order.protocol)
    return "{}"
  end
  local env = order.env and json.value(json.scan(order.env))
  local socket, action = sockets[order.name], nil
  if order.client then action = socket:from_client(order.client, env) else action = socket:from_server(order.server, env) end
  local counted = 0
  for _ in pairs(socket.running) do counted = counted + 1 end
  assert(counted == socket.n_running, "operations are counted wrongly")
  return json.encode(action)
end
`;

/** One connection, as Lua sees it. */
export interface LuaSocket {
  client(message: unknown, env?: object): Promise<Action>;
  server(message: unknown, env?: object): Promise<Action>;
  /** Messages in order, `[client?, text]`. */
  all(messages: readonly (readonly ["client" | "server", unknown])[]): Promise<Action[]>;
}

export type OpenSocket = (plan: GraphqlPlanIR, protocol: string) => Promise<LuaSocket>;

/** Envoy with sockets that live from call to call. Messages are sent as JSON, texts as they are. */
export async function startSockets(): Promise<{
  readonly runner: LuaRunner;
  readonly open: OpenSocket;
}> {
  const { runner, batch } = await startBatches(DRIVER);
  let opened = 0;
  return {
    runner,
    async open(plan, protocol) {
      opened += 1;
      const name = String(opened);
      await batch([JSON.stringify({ name, plan, protocol })]);
      const order = (side: "client" | "server", message: unknown, env?: object) =>
        JSON.stringify({
          name,
          [side]: typeof message === "string" ? message : JSON.stringify(message),
          ...(env && { env: JSON.stringify(env) }),
        });
      const one = async (text: string) => JSON.parse((await batch([text]))[0] ?? "") as Action;
      return {
        client: (message, env) => one(order("client", message, env)),
        server: (message, env) => one(order("server", message, env)),
        async all(messages) {
          const results = await batch(messages.map(([side, message]) => order(side, message)));
          return results.map((result) => JSON.parse(result) as Action);
        },
      };
    },
  };
}

/** What the tests of sockets allow. */
export const SOCKET_PLAN = planOf([
  ruleOf("query hello"),
  ruleOf("query secret", false),
  ruleOf("mutation pay", "args.amount <= 10"),
  ruleOf("subscription tick"),
  ruleOf("subscription orderUpdated", 'order.customer_id == "c1"'),
  ruleOf("subscription orders", "order.owner == args.owner and env.open == true"),
  ruleOf("subscription unowned", "not exists(order.owner) or order.owner == null"),
]);

export const ORDERS = "subscription { orderUpdated { id order { customer_id } } }";

/** A message of graphql-transport-ws that starts an operation. */
export function subscribe(query: string, id: unknown = "1", more: object = {}) {
  return { id, type: "subscribe", payload: { query, ...more } };
}

/** A message of graphql-transport-ws with a result of operation 1. */
export function event(data: unknown, more: object = {}) {
  return { id: "1", type: "next", payload: { data, ...more } };
}

/** What {@link ORDERS} delivers. */
export function order(customer: unknown) {
  return { orderUpdated: { id: 1, order: { customer_id: customer } } };
}

/** The message passes, byte for byte. */
export async function delivered(
  socket: LuaSocket,
  side: "client" | "server",
  message: unknown,
): Promise<void> {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  assert.deepEqual(await socket[side](message), { deliver: text });
}

/** The client's message closes the connection. */
export async function closed(socket: LuaSocket, message: unknown, code: number): Promise<void> {
  const action = await socket.client(message);
  assert.equal(action.close, code, JSON.stringify(message));
  assert.match(action.reason ?? "", /^[ -~]{1,100}$/);
}

/** The server's message vanishes. */
export async function dropped(socket: LuaSocket, message: unknown): Promise<void> {
  const action = await socket.server(message);
  assert.deepEqual(
    [action.drop, action.deliver, action.reply],
    [true, undefined, undefined],
    JSON.stringify(message),
  );
}
