import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from "node:http";
import type { AddressInfo } from "node:net";
import { load } from "js-yaml";
import type { Proxy } from "../../authorizers/support/proxies.ts";

interface Dynamic {
  readonly http: {
    readonly middlewares: {
      readonly "without-upgrade": {
        readonly headers: { readonly customRequestHeaders: Readonly<Record<string, string>> };
      };
      readonly gatehouse: {
        readonly forwardAuth: { readonly address: string; readonly authResponseHeaders: readonly string[] };
      };
    };
    readonly services: {
      readonly application: {
        readonly loadBalancer: { readonly servers: readonly [{ readonly url: string }] };
      };
    };
  };
}

/**
 * What Traefik's documentation says of its entry point and of the middlewares `headers` and `forwardAuth`, done with a dynamic
 * configuration: the entry point replaces what a stranger says in `X-Forwarded-*` and `X-Real-Ip`; custom headers
 * replace those of a request, and an empty one removes it; the question has the request's headers and `X-Forwarded-*`; an
 * answer that is no 2xx is the client's; of another, `authResponseHeaders` replace the request's.
 */
export async function startForwardAuth(configuration: string): Promise<Proxy> {
  const { middlewares, services } = (load(configuration) as Dynamic).http;
  const { customRequestHeaders } = middlewares["without-upgrade"].headers;
  const { address, authResponseHeaders } = middlewares.gatehouse.forwardAuth;
  const [{ url: application }] = services.application.loadBalancer.servers;

  const server = createServer((request, response) => {
    const { method = "", url = "", socket } = request;
    const headers = custom(atEntryPoint(request), customRequestHeaders);
    const question = {
      ...headers,
      "x-forwarded-method": method,
      "x-forwarded-proto": "http",
      "x-forwarded-host": request.headers.host ?? "",
      "x-forwarded-uri": url,
      "x-forwarded-for": socket.remoteAddress ?? "",
    };
    const handled = async () => {
      const answer = await fetch(address, { headers: fetchable(question), redirect: "manual" });
      if (!answer.ok) {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
        return;
      }
      const added = authResponseHeaders.map(
        (name) => [name.toLowerCase(), answer.headers.get(name) ?? ""] as const,
      );
      const sent = fetchable({ ...headers, ...(Object.fromEntries(added) as Record<string, string>) });
      const served = await fetch(`${application}${url}`, { method, headers: sent, redirect: "manual" });
      response.writeHead(served.status).end(await served.text());
    };
    handled().catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** Of each request, whatever it asks for; newer versions leave all but the port out of the question, and others do not. */
function atEntryPoint({ headers, socket }: IncomingMessage): IncomingHttpHeaders {
  const address = socket.remoteAddress ?? "";
  const { host = "" } = headers;
  const kept = Object.entries(headers).filter(([name]) => !OF_STRANGERS.has(name));
  return {
    ...Object.fromEntries(kept),
    "x-real-ip": address,
    "x-forwarded-host": host,
    "x-forwarded-port": /:(\d+)$/.exec(host)?.[1] ?? "80",
    "x-forwarded-proto": "http",
    "x-forwarded-server": "traefik.test",
  };
}

/** What an entry point removes, if the peer is none of its `trustedIPs`. */
const OF_STRANGERS = new Set([
  "x-real-ip",
  ...["for", "host", "method", "port", "proto", "server", "uri"].map((name) => `x-forwarded-${name}`),
  ...["tls-client-cert", "tls-client-cert-info"].map((name) => `x-forwarded-${name}`),
]);

function custom(
  headers: IncomingHttpHeaders,
  changed: Readonly<Record<string, string>>,
): OutgoingHttpHeaders {
  const lower = Object.entries(changed).map(([name, value]) => [name.toLowerCase(), value] as const);
  const merged: OutgoingHttpHeaders = { ...headers, ...Object.fromEntries(lower) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ""));
}

/** `fetch` sets the host, and what belongs to the connection, itself. */
function fetchable(headers: OutgoingHttpHeaders): Record<string, string> {
  const own = new Set(["host", "connection", "content-length", "transfer-encoding"]);
  const pairs = Object.entries(headers).filter(([name, value]) => !own.has(name) && value !== "");
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
}
