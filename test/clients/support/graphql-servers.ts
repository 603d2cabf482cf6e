import { createHash } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { ApolloServer } from "@apollo/server";
import { expressMiddleware } from "@as-integrations/express5";
import express, { type RequestHandler } from "express";
import type { GraphQLSchema } from "graphql";
import { createHandler as createHttpHandler } from "graphql-http/lib/use/express";
import { createHandler as createSseHandler } from "graphql-sse/lib/use/express";
import { useServer } from "graphql-ws/use/ws";
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
scalar File
type Customer { id: ID! name: String ssn: String notes: String }
type Order { id: ID! customer_id: ID! ssn: String }
type Query { me: Customer salary: Int }
type Mutation { rename(name: String!): Customer upload(file: File!): Int }
type Subscription { order: Order }
`;

/** A document that Apollo Server has under its hash, as if it had been registered. */
export const TRUSTED = "query Trusted { me { id name } }";
export const FORBIDDEN = "query Forbidden { salary }";
export const hashOf = (document: string): string => createHash("sha256").update(document).digest("hex");

const customer = { id: "c-1", name: "Ada", ssn: "111-11-1111", notes: "private" };

/** Orders of two customers, one after the other, until the subscription ends. */
async function* orders() {
  for (let id = 1; id <= 4; id += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield { order: { id: String(id), customer_id: id % 2 === 1 ? "c-1" : "c-2", ssn: "111-11-1111" } };
  }
}

/**
 * GraphQL servers as people run them, each at a path of its own: Apollo Server in Express 5 (`/graphql`), graphql-yoga
 * (`/yoga`), graphql-http (`/http`), graphql-sse (`/sse`), a server that delivers a response in parts (`/parts`), and graphql-ws
 * on any path.
 */
export async function startGraphqlServers() {
  const executed: string[] = [];
  const schema = createSchema({
    typeDefs: SDL,
    resolvers: {
      Query: {
        me: () => (executed.push("me"), customer),
        salary: () => executed.push("salary"),
      },
      Mutation: {
        rename: (_root: unknown, { name }: { name: string }) => {
          executed.push("rename");
          return { ...customer, name };
        },
        upload: async (_root: unknown, { file }: { file: File }) => (await file.arrayBuffer()).byteLength,
      },
      Subscription: { order: { subscribe: orders } },
    },
  });
  const documents = new Map([TRUSTED, FORBIDDEN].map((document) => [`apq:${hashOf(document)}`, document]));
  const cache = {
    get: (key: string) => Promise.resolve(documents.get(key)),
    set: (key: string, value: string) => Promise.resolve(void documents.set(key, value)),
    delete: (key: string) => Promise.resolve(documents.delete(key)),
  };
  const apollo = new ApolloServer({ schema, introspection: true, persistedQueries: { cache } });
  await apollo.start();
  const yoga = createYoga({ schema, graphqlEndpoint: "/yoga", logging: false });
  const application = express()
    .use("/graphql", express.json({ limit: "10mb" }), expressMiddleware(apollo))
    .use("/http", createHttpHandler({ schema }))
    .use("/sse", createSseHandler({ schema }) as unknown as RequestHandler)
    .post("/parts", (_request, response) => {
      response.setHeader("content-type", 'multipart/mixed; boundary="-"; deferSpec=20220824');
      const part = (json: object) =>
        `\r\n---\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(json)}`;
      response.write(part({ data: { me: { id: "c-1", __typename: "Customer" } }, hasNext: true }));
      const notes = { notes: customer.notes, __typename: "Customer" };
      response.end(`${part({ hasNext: false, incremental: [{ path: ["me"], data: notes }] })}\r\n-----\r\n`);
    })
    .use(yoga as RequestHandler);
  const server = createServer({ keepAliveTimeout: 0 }, application);
  const sockets = new WebSocketServer({ server, handleProtocols: () => "graphql-transport-ws" });
  const disposable = useServer({ schema }, sockets);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Root fields of queries and mutations that were executed, in their order. */
    executed,
    async close() {
      await disposable.dispose();
      await apollo.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
