import assert from "node:assert/strict";
import type { Server } from "node:http";
import type { Request } from "express";

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly headers?: Readonly<Record<string, { readonly required?: boolean }>> }>
  >;
}

/** The parts of an OpenAPI document that say which headers an answer has. */
export interface HeadersDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Those of HTTP itself, which are not declared for each answer, and those that tell browsers what not to do. */
const STANDARD: ReadonlySet<string> = new Set(
  [
    "cache-control connection content-encoding content-length content-type date keep-alive transfer-encoding vary",
    "content-security-policy cross-origin-opener-policy cross-origin-resource-policy origin-agent-cluster",
    "referrer-policy strict-transport-security x-content-type-options x-dns-prefetch-control x-download-options",
    "x-frame-options x-permitted-cross-domain-policies x-xss-protection",
  ].flatMap((line) => line.split(" ")),
);

/** The address of the API within its server. */
const BASE = "/v1";

/** One kind of answer: an operation and a status. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The names of each answer, but for the standard ones; equal ones once. */
  readonly answers: Map<string, readonly string[]>;
}

/**
 * Notes the headers of every answer of a server, by operation and status.
 *
 * @returns compares them with a document: throws if an answer had a header that is not declared, or lacked one that is required
 */
export function noteHeaders(server: Server): (document: HeadersDocument) => void {
  const all = new Map<string, Seen>();
  server.on("request", (request: Partial<Request>, response) => {
    response.on("finish", () => {
      const route = (request.route as { readonly path?: unknown } | undefined)?.path;
      // the dashboard's pages have the same paths, without a version
      if (typeof route !== "string" || request.baseUrl !== BASE || !response.headersSent) return;
      const method = (request.method ?? "").toLowerCase();
      const path = route.replaceAll(/:(\w+)/g, "{$1}");
      const status = response.statusCode;
      const names = response.getHeaderNames().filter((name) => !STANDARD.has(name));
      const key = `${method} ${path} ${status}`;
      const seen = all.get(key) ?? { method, path, status, answers: new Map<string, readonly string[]>() };
      seen.answers.set(names.toSorted().join(), names);
      all.set(key, seen);
    });
  });
  return (document) => {
    assert.deepEqual([...new Set([...all.values()].flatMap((seen) => problemsOf(document, seen)))], []);
  };
}

function problemsOf({ paths }: HeadersDocument, { method, path, status, answers }: Seen): readonly string[] {
  const operation = paths[path]?.[method];
  // the document itself and its page, and the metadata of the issuer
  if (operation === undefined) return [];
  const about = `${method} ${path} ${status}`;
  const response = operation.responses[status];
  if (response === undefined) return [`${about} is not declared`];
  const declared = Object.entries(response.headers ?? {}).map(
    ([name, { required = false }]) => [name.toLowerCase(), required] as const,
  );
  const known = new Set(declared.map(([name]) => name));
  return [...answers.values()].flatMap((names) => [
    ...names.filter((name) => !known.has(name)).map((name) => `${about}: ${name} is not declared`),
    ...declared
      .filter(([name, required]) => required && !names.includes(name))
      .map(([name]) => `${about}: ${name} is missing`),
  ]);
}
