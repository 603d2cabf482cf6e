import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import type { Actor, Permission } from "../actor.ts";
import type { ApiError, ErrorCode } from "../errors.ts";
import type { UnitOfWork, Units } from "../unit.ts";
import type { Warning } from "../warnings.ts";
import type { SerializedData } from "./serialized.ts";

/** Groups in which requests are counted (specification, section 8), and one for gateways. */
export const RATE_GROUPS = ["authentication", "management", "analytics", "gateway"] as const;
export type RateGroup = (typeof RATE_GROUPS)[number];

/**
 * How a route keeps a key that is limited to one customer to that customer:
 * - `path`: the path parameter of this name is a customer's id; the frame answers 404 for all others;
 * - `handler`: the route's own code does, by `onlyCustomerOf(actor)`;
 * - `all`: the route is about more than one customer, and refuses such keys (403).
 */
export type Tenancy = { readonly path: string } | "handler" | "all";

/** The input of a route's code. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly actor: Actor;
  readonly requestId: string;
  /** The client's address, also behind trusted proxies. */
  readonly clientIp: string;
  readonly userAgent: string;
  /** From Node.js: names in lower case. For headers that the frame does not read itself. */
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the connection has ended, because nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /**
   * For routes that wait before they answer: the credentials may no longer be valid.
   * @throws ApiError as the request would have been refused with
   */
  identifyAgain(): Promise<void>;
  /**
   * Compares the resource's ETag with `If-Match` (RFC 9110, section 13.1.1).
   *
   * @param etag - `undefined` if there is no such resource yet, so that nothing matches, not even `*`
   * @throws ApiError 412 if the request names another one
   */
  ifMatch(etag: string | undefined): void;
}

/** The answer of a route. */
export type Answer<Data = unknown> =
  | {
      readonly kind: "data";
      readonly status: 200 | 201 | 202;
      readonly data: Data;
      readonly pagination?: Pagination;
      readonly warnings?: readonly Warning[];
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  /** 200 with data that was serialized once for several answers. */
  | { readonly kind: "serialized"; readonly data: SerializedData }
  | {
      readonly kind: "redirect";
      readonly location: string;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  /** An HTML page, for browsers during a sign-in. */
  | {
      readonly kind: "page";
      readonly status: number;
      readonly html: string;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    }
  /** Newline-delimited JSON, unchanged. */
  | { readonly kind: "lines"; readonly lines: AsyncIterable<unknown> }
  /** The `data` of the envelope as JSON, part by part: for data that must not be held in memory. Sent as a download. */
  | { readonly kind: "document"; readonly name: string; readonly parts: AsyncIterable<string> }
  /** Refuses the request, but keeps what was written: a refusal that is thrown would undo it. */
  | { readonly kind: "refusal"; readonly error: ApiError };

/** A header of an answer, for the OpenAPI document. */
export interface AnswerHeader {
  readonly description: string;
  readonly type: "string" | "boolean" | "integer";
  readonly required: boolean;
}

/** Specification 2.7. */
export interface Pagination {
  readonly current_page: number;
  readonly total_pages: number;
  readonly total_items: number;
  readonly page_size: number;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

interface Declaration<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
> {
  /** From `/v1` on, parameters in braces: `/customers/{id}`. */
  readonly path: string;
  /** The name of the operation in the OpenAPI document: `listCustomers`. */
  readonly operation: string;
  readonly summary: string;
  readonly description?: string;
  /** The resource, by which the OpenAPI document groups operations. */
  readonly tag: string;
  readonly group: RateGroup;
  /** `public`: no key is required, and the route itself decides what it permits. */
  readonly permission: Permission | "public";
  readonly tenancy: Tenancy;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The schema of `data` by status; no other status is sent. `null`: the answer has no envelope. */
  readonly answers: Readonly<Partial<Record<200 | 201 | 202 | 303, z.ZodType | null>>>;
  /** `data` is a list with a pagination object. */
  readonly paginated?: true;
  /** The change may not have the intended effect; the answer then has `warnings`. */
  readonly warns?: true;
  /** The answer has an ETag; `If-Match` is supported by methods that change the resource, and by POST as `ifMatch` says. */
  readonly etag?: true;
  /** A POST that changes a resource with an ETag: `If-Match` is supported. */
  readonly ifMatch?: true;
  /**
   * The answer to a GET is the same as long as its ETag is, so that `If-None-Match` is answered 304. Not for resources that
   * also change without a new revision, such as keys (`last_used_at`).
   */
  readonly revalidated?: true;
  /** Headers of the answer in addition to those of every route, by name. */
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** Codes in addition to those that every route can return. */
  readonly errors?: readonly ErrorCode[];
  /** Maximum size of the body in bytes, if the usual limit is too small. */
  readonly bodyLimit?: number;
  /**
   * The body may be any JSON that is not nested absurdly deep: the route itself checks each part for nesting and for
   * strings that PostgreSQL cannot store, so that one bad part does not cause the others to be refused.
   */
  readonly anyText?: true;
  /** The answer may be of kind `lines`: `application/x-ndjson` is accepted in addition to JSON. */
  readonly lines?: true;
}

/** A route that changes nothing. */
interface Reading<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
> extends Declaration<P, Q, B> {
  readonly method: "get" | "post";
  readonly read: (call: Call<Output<P>, Output<Q>, Output<B>>) => Promise<Answer>;
}

/**
 * A route that changes something, in one unit; with `Idempotency-Key`, its answer is stored in the same transaction.
 */
interface Writing<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
  Prepared,
> extends Declaration<P, Q, B> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Requests to other servers, made before the transaction begins. */
  readonly prepare?: (call: Call<Output<P>, Output<Q>, Output<B>>) => Promise<Prepared>;
  readonly write: (
    call: Call<Output<P>, Output<Q>, Output<B>>,
    unit: UnitOfWork,
    prepared: Prepared,
  ) => Promise<Answer>;
  /** Runs its unit, if that must not use a connection of the API. */
  readonly units?: Units;
}

type AnyCall = Call<unknown, unknown, unknown>;

/** A declared route, for serving and documenting it. */
export interface Route extends Declaration<
  z.ZodType | undefined,
  z.ZodType | undefined,
  z.ZodType | undefined
> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly read?: (call: AnyCall) => Promise<Answer>;
  readonly prepare?: (call: AnyCall) => Promise<unknown>;
  readonly write?: (call: AnyCall, unit: UnitOfWork, prepared: unknown) => Promise<Answer>;
  readonly units?: Units;
}

/** Declares a route that only reads. `params`, `query` and `body` of the call have the types of their schemas. */
export function readRoute<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(route: Reading<P, Q, B>): Route {
  return route as unknown as Route;
}

/** Declares a route that writes, within one unit. */
export function writeRoute<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  Prepared = undefined,
>(route: Writing<P, Q, B, Prepared>): Route {
  return route as unknown as Route;
}

/** 200 with `data`, and the resource's `etag` if the route declares one. */
export function ok<Data>(
  data: Data,
  options: { readonly etag?: string; readonly warnings?: readonly Warning[] } = {},
): Answer<Data> {
  const { etag, warnings } = options;
  return {
    kind: "data",
    status: 200,
    data,
    ...(warnings && { warnings }),
    ...(etag !== undefined && { headers: { etag } }),
  };
}

/** 201 with `data`. */
export function created<Data>(
  data: Data,
  options: {
    readonly etag?: string;
    readonly location?: string;
    readonly warnings?: readonly Warning[];
  } = {},
): Answer<Data> {
  const { etag, location, warnings } = options;
  const headers = { ...(etag !== undefined && { etag }), ...(location !== undefined && { location }) };
  return { kind: "data", status: 201, data, ...(warnings && { warnings }), headers };
}

/** One page of a list. */
export function page<Item>(
  items: readonly Item[],
  at: { readonly page: number; readonly limit: number; readonly total: number },
): Answer<readonly Item[]> {
  const pagination = {
    current_page: at.page,
    total_pages: Math.ceil(at.total / at.limit),
    total_items: at.total,
    page_size: at.limit,
  };
  return { kind: "data", status: 200, data: items, pagination };
}

/** The ETag of a resource at one revision. It is strong, because the same revision is the same in every byte. */
export function etagOf({ id, revision }: { readonly id: string; readonly revision: number }): string {
  return `"${id}.${revision}"`;
}
