import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { customerRoutes } from "./customers.ts";
import { reportError, RequestError } from "./http.ts";
import { orderRoutes } from "./orders.ts";
import { pageRoutes } from "./pages.ts";
import { reportRoutes } from "./reports.ts";
import { createDemoStore } from "./store.ts";
import { userRoutes } from "./users.ts";
import { whoamiRoutes } from "./whoami.ts";

export interface DemoApplicationOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly log?: { info(object: object, message: string): void };
}

/** A running demo application. */
export interface DemoApplication {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** How many requests have arrived, health checks aside: what was denied in front must not show here. */
  readonly requests: number;
  /** Stops listening and drops what is still connected. */
  close(): Promise<void>;
}

/**
 * Starts the demo application on 127.0.0.1: a customer API and a few web pages that know nothing about
 * authorization, so that everything a caller may or may not do is the gateway's doing.
 *
 * @throws when the port is taken.
 */
export async function startDemoApplication(options: DemoApplicationOptions): Promise<DemoApplication> {
  let requests = 0;
  const app = createApplication(({ method, path }) => {
    requests += 1;
    options.log?.info({ method, path }, "demo application request");
  });
  const server = createServer(app);
  server.listen(options.port, "127.0.0.1");
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
          resolve(); // with an error where it is closed already, which is as good
        });
        server.closeAllConnections();
      });
    },
  };
}

/** The steps of a request, one a line. */
function createApplication(onRequest: (request: { method: string; path: string }) => void): Express {
  const store = createDemoStore();
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
  app.use(orderRoutes(store));
  app.use(userRoutes());
  app.use(reportRoutes(store));
  app.use(whoamiRoutes());
  app.use(pageRoutes(store));
  app.use(() => {
    throw new RequestError(404, "no such page");
  });
  app.use(reportError);
  return app;
}
