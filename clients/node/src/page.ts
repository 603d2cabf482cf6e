import type { Pagination } from "./api.ts";
import { unreadableResponse, type ApiResponse } from "./response.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** One page of a list. */
export class Page<T> {
  readonly data: readonly T[];
  readonly pagination: Pagination;
  readonly response: ApiResponse;
  readonly #next: (() => Promise<Page<T>>) | undefined;

  constructor(
    data: readonly T[],
    pagination: Pagination,
    response: ApiResponse,
    next: (() => Promise<Page<T>>) | undefined,
  ) {
    this.data = data;
    this.pagination = pagination;
    this.response = response;
    this.#next = next;
  }

  get hasNext(): boolean {
    return this.#next !== undefined;
  }

  /** @returns undefined after the last page */
  async next(): Promise<Page<T> | undefined> {
    return this.#next?.();
  }
}

/**
 * A list that is not yet requested: `await` gives its first page, `for await` every item of every page.
 *
 * @example
 * for await (const customer of gatehouse.customers.list({ status: "active" })) console.log(customer.name);
 */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #first: () => Promise<Page<T>>;

  constructor(
    transport: Transport,
    path: string,
    query: object | undefined,
    options: CallOptions | undefined,
  ) {
    // as it is now, whatever the caller does to it between two pages
    const filters = { ...query };
    this.#first = () => readPage<T>(transport, path, filters, options);
  }

  then<A = Page<T>, B = never>(
    resolved?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#first().then(resolved, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.#first().catch(rejected);
  }

  finally(done?: (() => void) | null): Promise<Page<T>> {
    return this.#first().finally(done);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let page: Page<T> | undefined = await this.#first(); page !== undefined; page = await page.next())
      yield page;
  }
}

async function readPage<T>(
  transport: Transport,
  path: string,
  query: object,
  options: CallOptions | undefined,
): Promise<Page<T>> {
  const { data, pagination, response } = await transport.request<T[]>({
    method: "GET",
    path,
    query,
    options,
  });
  if (!Array.isArray(data)) throw unreadableResponse(response);
  const { current_page = 1, total_pages = 1 } = pagination ?? {};
  const known = pagination ?? { current_page, total_pages, total_items: data.length, page_size: data.length };
  return new Page(data, known, response, nextOf());

  function nextOf(): (() => Promise<Page<T>>) | undefined {
    // records that arrive meanwhile do not move what follows a cursor
    if (response.nextCursor !== undefined) {
      const { page: _, ...filters } = query as { page?: number };
      return () => readPage(transport, path, { ...filters, cursor: response.nextCursor }, options);
    }
    if ("cursor" in query || data.length === 0 || current_page >= total_pages) return undefined;
    return () => readPage(transport, path, { ...query, page: current_page + 1 }, options);
  }
}
