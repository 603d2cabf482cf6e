import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { rawGet } from "../../support/raw-http.ts";

/** Columns of the table that differ. */
export type Column =
  "nginx" | "caddy" | "haproxy" | "envoy-http" | "envoy-grpc" | "aws" | "authzen" | "gateway" | "explain";

/** A proxy in front of the gateway, which speaks TLS with the client. */
export type FrontColumn = "front-nginx" | "front-haproxy" | "front-caddy";

export interface Case {
  readonly line: string;
  readonly token?: string;
  readonly headers?: readonly string[];
  readonly reason: string;
  readonly at?: Readonly<Partial<Record<Column | FrontColumn | "front", string>>>;
}

export const TABLE = parse(
  readFileSync(new URL("../../cases/doors/requests.yaml", import.meta.url), "utf8"),
) as {
  readonly policies: string;
  readonly requests: readonly Case[];
};

/** In place of a reason: the proxy refuses the request itself, without asking. */
export const REFUSED = "REFUSED";

export const expectedAt = (column: Column, { reason, at }: Case): string => at?.[column] ?? reason;

/** What differs for a proxy, for all of them, or for the gateway behind them. */
export const expectedInFront = (column: FrontColumn, { reason, at }: Case): string =>
  at?.[column] ?? at?.front ?? at?.gateway ?? reason;

export const titleOf = ({ line, token, headers = [] }: Case): string =>
  [line, ...(token === undefined ? [] : [`as ${token}`]), ...headers].join(", ");

/** The request as a client sends it, byte for byte. */
export function requestOf({ line, headers = [] }: Case, authorization: readonly string[]): string {
  const [method, target] = lineOf(line);
  const request = rawGet(target, [...authorization, ...headers], method);
  // one `Connection` header: nginx before 1.23 shows only the first
  const replaces = headers.some((header) => header.startsWith("connection:"));
  return replaces ? request.replace("Connection: close\r\n", "") : request;
}

export const lineOf = (line: string): readonly [method: string, target: string] => {
  const space = line.indexOf(" ");
  return [line.slice(0, space), line.slice(space + 1)];
};
