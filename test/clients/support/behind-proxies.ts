import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import express from "express";
import { PUBLIC_HOST } from "./front-proxies.ts";

/** The address of the client; the gateway's other peers are the proxies, and this process at 127.0.0.1. */
export const CLIENT = "127.0.0.9";

/** What the application sees. */
interface Seen {
  readonly ip: string;
  readonly protocol: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An application as it is usually written: it trusts what is in front of it, and answers only by https. */
export function application() {
  const app = express();
  app.set("trust proxy", 1);
  app.use((request, response, next) => {
    if (request.secure || request.path.startsWith("/open/plain")) next();
    else response.redirect(301, `https://${request.hostname}${request.originalUrl}`);
  });
  app.use(express.text({ type: "*/*" }));
  app.use((request, response) => {
    const { ip = "", protocol, hostname: host, headers } = request;
    const body: unknown = request.body;
    response.json({ ip, protocol, host, headers, body: typeof body === "string" ? body : "" });
  });
  return app;
}

interface Ask {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly seen: Seen | undefined;
}

/** Sends a request from {@link CLIENT}. */
export function ask(
  port: number,
  path: string,
  tls: boolean,
  { host = PUBLIC_HOST, headers = {}, body }: Ask = {},
) {
  return new Promise<Answer>((resolve, reject) => {
    const options = {
      ...{ host: "127.0.0.1", port, path, localAddress: CLIENT, agent: false },
      method: body === undefined ? "GET" : "POST",
      headers: {
        host,
        ...(body !== undefined && { "content-type": "text/plain", "content-length": String(body.length) }),
        ...headers,
      },
    };
    const take = (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers: received } = response;
        const seen = status === 200 ? (JSON.parse(text) as Seen) : undefined;
        resolve({ status, location: received.location, seen });
      });
    };
    const call = tls
      ? requestHttps({ ...options, servername: PUBLIC_HOST, rejectUnauthorized: false }, take)
      : requestHttp(options, take);
    call.on("error", reject);
    call.end(body);
  });
}
