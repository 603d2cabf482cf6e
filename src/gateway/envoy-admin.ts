import { request } from "node:http";

/** Where Envoy's admin interface listens, as `http.request` takes it. */
export type AdminAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request to the admin interface. Rejects if it does not respond within `timeout` milliseconds. */
export function askAdmin(
  address: AdminAddress,
  method: "GET" | "POST",
  path: string,
  timeout = 2000,
): Promise<AdminAnswer> {
  return new Promise((resolve, reject) => {
    const options = { ...address, method, path, agent: false, signal: AbortSignal.timeout(timeout) };
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
      });
    });
    call.on("error", reject);
    call.end();
  });
}

/** Whether Envoy is serving. */
export async function isLive(address: AdminAddress): Promise<boolean> {
  try {
    return (await askAdmin(address, "GET", "/ready")).status === 200;
  } catch {
    return false;
  }
}

/** @returns the actual port of a listener; undefined if there is no such listener. */
export async function listenerPort(address: AdminAddress, name: string): Promise<number | undefined> {
  const { body } = await askAdmin(address, "GET", "/listeners?format=json");
  const { listener_statuses: statuses = [] } = JSON.parse(body) as {
    listener_statuses?: { name: string; local_address: { socket_address?: { port_value: number } } }[];
  };
  return statuses.find((status) => status.name === name)?.local_address.socket_address?.port_value;
}

/** @returns how many requests the gateway is serving right now. */
export async function activeRequests(address: AdminAddress): Promise<number> {
  const { body } = await askAdmin(
    address,
    "GET",
    "/stats?filter=^http.gateway.downstream_rq_active$&format=json",
  );
  const { stats } = JSON.parse(body) as { stats: { value?: number }[] };
  return stats.reduce((sum, { value = 0 }) => sum + value, 0);
}
