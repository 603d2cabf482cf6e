import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo, Socket } from "node:net";
import { execute, subscribe, type ExecutionArgs, type GraphQLSchema } from "graphql";
import { createHandler } from "graphql-http/lib/use/express";
import { useServer } from "graphql-ws/use/ws";
import express from "express";
import { SubscriptionServer } from "subscriptions-transport-ws";
import { WebSocketServer } from "ws";

/** What is used of it here: its own types bring those of the DOM, which are not Node's. */
interface Yoga {
  readonly createSchema: (options: {
    readonly typeDefs: string;
    readonly resolvers: object;
  }) => GraphQLSchema;
  readonly createYoga: (options: object) => RequestListener;
}
const { createSchema, createYoga } = createRequire(import.meta.url)("graphql-yoga") as Yoga;

export const SDL = `
interface Node { id: ID! }
type Customer implements Node { id: ID! name: String ssn: String notes: String friend: Customer }
type Order implements Node { id: ID! customer_id: ID! total: Int }
type Query { me: Customer customer(id: ID!): Customer node(id: ID!): Node }
type Mutation { rename(id: ID!, name: String!): Customer }
type Subscription { orderUpdated: Order }
`;

/** Policies for it: administrators may do everything, others see a customer of their own. */
export const POLICIES = `
graphql: { schema: api.graphql, paths: [/graphql, /mounted] }
policies:
  - { resource: "* /mounted/**", condition: exists(user.id) }
graphql_policies:
  - { query: customer, condition: user.role == "admin" or args.id == user.customer_id }
  - { query: me, condition: exists(user.id) }
  - { query: node, condition: exists(user.id) }
  - { query: Customer.ssn, condition: user.role == "admin" }
  - { query: Customer.notes, condition: user.role == "admin", on_deny: "null" }
  - { mutation: rename, condition: user.role == "admin" }
  - { subscription: orderUpdated, condition: order.customer_id == user.customer_id }
response_masks:
  - { api_pattern: "POST /mounted/scripted", fields: [{ name: me.name, condition: true, mask_type: full }] }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
  - connection: { path: /live, condition: exists(user.id) }
`;

interface OrderEvent {
  readonly id: string;
  readonly customer_id: string;
}

/**
 * A GraphQL server as people run it: graphql-yoga at `/graphql`, graphql-http mounted in Express at `/mounted`, what the
 * request's headers say at `/mounted/scripted`, and graphql-ws and the older subscriptions-transport-ws on any path.
 */
export interface GraphqlApplication {
  readonly url: string;
  /** Root fields that were resolved so far. */
  readonly operations: () => number;
  readonly subscribers: () => number;
  publish(order: OrderEvent): void;
  close(): Promise<void>;
}

export async function startGraphqlApplication(): Promise<GraphqlApplication> {
  let operations = 0;
  const listeners = new Set<(order: OrderEvent) => void>();
  const customers = [
    { __typename: "Customer", id: "c-1", name: "Ada", ssn: "111-11-1111", notes: "private" },
    { __typename: "Customer", id: "c-2", name: "Bob", ssn: "222-22-2222", notes: "private" },
  ];
  const find = (id: string) => {
    operations += 1;
    return customers.find((customer) => customer.id === id);
  };
  /** Not a generator: one that waits for its next event cannot be told to end. */
  function orders(): AsyncIterableIterator<{ orderUpdated: OrderEvent }> {
    const waiting: OrderEvent[] = [];
    let ended = false;
    let wake = (): void => undefined;
    const listen = (order: OrderEvent) => {
      waiting.push(order);
      wake();
    };
    listeners.add(listen);
    const end = () => {
      listeners.delete(listen);
      ended = true;
      wake();
      return Promise.resolve({ done: true as const, value: undefined });
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        while (waiting.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
        const order = waiting.shift();
        return order === undefined ? end() : { done: false, value: { orderUpdated: order } };
      },
      return: end,
      throw: end,
    };
  }
  const schema = createSchema({
    typeDefs: SDL,
    resolvers: {
      Query: {
        me: () => find("c-1"),
        customer: (_root: unknown, { id }: { id: string }) => find(id),
        node: (_root: unknown, { id }: { id: string }) => find(id),
      },
      Customer: { friend: () => customers[0] },
      Mutation: { rename: (_root: unknown, { id }: { id: string }) => find(id) },
      Subscription: { orderUpdated: { subscribe: orders } },
    },
  });
  const yoga = createYoga({ schema, logging: false, batching: true, maskedErrors: false });
  const application = express()
    .use("/mounted/scripted", (request, response) => {
      response.setHeader("content-type", request.headers["x-scripted-type"] ?? "");
      response.end(decodeURIComponent(String(request.headers["x-scripted-body"])));
    })
    .use("/mounted", createHandler({ schema }))
    .use(yoga);
  const server = createServer({ keepAliveTimeout: 0 }, application);

  const modern = new WebSocketServer({ noServer: true, handleProtocols: () => "graphql-transport-ws" });
  const disposable = useServer({ schema }, modern);
  const old = new WebSocketServer({ noServer: true, handleProtocols: () => "graphql-ws" });
  const legacy = SubscriptionServer.create(
    {
      schema,
      execute: (...args: unknown[]) => execute(argumentsOf(args)),
      subscribe: (...args: unknown[]) => subscribe(argumentsOf(args)),
    },
    old,
  );
  const sockets = new Set<Socket>();
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.add(socket);
    const target = request.headers["sec-websocket-protocol"] === "graphql-ws" ? old : modern;
    target.handleUpgrade(request, socket, head, (client) => target.emit("connection", client, request));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations: () => operations,
    subscribers: () => listeners.size,
    publish(order) {
      for (const listener of listeners) listener(order);
    },
    async close() {
      legacy.close();
      await disposable.dispose();
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** subscriptions-transport-ws calls with a list of arguments, as graphql 15 took them. */
function argumentsOf(args: readonly unknown[]): ExecutionArgs {
  if (args.length === 1) return args[0] as ExecutionArgs;
  const [schema, document, rootValue, contextValue, variableValues, operationName] = args;
  return { schema, document, rootValue, contextValue, variableValues, operationName } as ExecutionArgs;
}
