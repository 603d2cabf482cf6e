import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { contactRoutes } from "./contacts.ts";
import { customerRoutes } from "./customers.ts";
import { exportRoutes } from "./exports.ts";
import { createGraphqlEndpoint, type GraphqlEndpoint } from "./graphql.ts";
import { reportError, RequestError } from "./http.ts";
import { createOrderFeed, type OrderFeed } from "./order-feed.ts";
import { createOrderSocket } from "./order-socket.ts";
import { orderRoutes } from "./orders.ts";
import { pageRoutes } from "./pages.ts";
import { reportRoutes } from "./reports.ts";
import { attachSockets } from "./sockets.ts";
import { createDemoStore, type DemoStore } from "./store.ts";
import { userRoutes } from "./users.ts";
import { whoamiRoutes } from "./whoami.ts";

export interface DemoApplicationOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1, because nothing in it checks who asks. */
  readonly address?: string;
  /** Ms between two events of its streams. */
  readonly eventInterval?: number;
  readonly log?: { info(object: object, message: string): void };
}

const EVENT_INTERVAL = 5000;

/** A running demo application. */
export interface DemoApplication {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Number of requests and handshakes received, except health checks: requests denied by the gateway must not appear here. */
  readonly requests: number;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

/**
 * Starts the demo application: a customer API, GraphQL, a WebSocket feed and a few web pages without any
 * authorization, so that the gateway alone decides what a caller may do.
 *
 * @throws if the port is in use.
 */
export async function startDemoApplication(options: DemoApplicationOptions): Promise<DemoApplication> {
  let requests = 0;
  const onRequest = ({ method, path }: RequestLine) => {
    requests += 1;
    options.log?.info({ method, path }, "demo application request");
  };
  const interval = options.eventInterval ?? EVENT_INTERVAL;
  const store = createDemoStore();
  const feed = createOrderFeed(store, interval);
  const graphql = createGraphqlEndpoint(store, feed);
  const server = createServer(createApplication({ store, feed, graphql, interval }, onRequest));
  const sockets = new Map([
    ["/ws/orders", createOrderSocket(store, feed)],
    ["/graphql", graphql.sockets],
  ]);
  const endConnections = attachSockets(server, sockets, onRequest);
  server.listen(options.port, options.address ?? "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => {
          resolve(); // with an error if it is already closed, which is fine
        });
        server.closeAllConnections();
        endConnections(); // the timers end with the last listener
      });
    },
  };
}

interface RequestLine {
  readonly method: string;
  readonly path: string;
}

interface Parts {
  readonly store: DemoStore;
  readonly feed: OrderFeed;
  readonly graphql: GraphqlEndpoint;
  readonly interval: number;
}

/** The steps of a request, one per line. */
function createApplication(
  { store, feed, graphql, interval }: Parts,
  onRequest: (request: RequestLine) => void,
): Express {
  const app = express();
  app.disable("x-powered-by");
  app.get("/health", (_request, response) => {
    response.json({ status: "ok" });
  });
  app.use((request, _response, next) => {
    onRequest(request);
    next();
  });
  app.use(express.json({ limit: "1mb" }));
  app.use(customerRoutes(store));
  app.use(contactRoutes(store, interval));
  app.use(orderRoutes(store, feed));
  app.all("/graphql", graphql.handler);
  app.use(userRoutes());
  app.use(reportRoutes(store));
  app.use(exportRoutes(store));
  app.use(whoamiRoutes());
  app.use(pageRoutes(store));
  app.use(() => {
    throw new RequestError(404, "no such page");
  });
  app.use(reportError);
  return app;
}
