import { Gatehouse, List } from "../../../../clients/node/src/index.ts";

/** A method of the library, and what it requests. */
export interface Method {
  /** As the cases name it: `customers.list_of_customer`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isIterator(value: unknown): value is AsyncIterator<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/** The names of the methods that a class has. */
export function methodsOf(of: { readonly prototype: object }): readonly string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(of.prototype))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => name);
}

/** Calls each method of each resource once, with `x` for every argument. */
export async function nodeMethods(): Promise<readonly Method[]> {
  const found: Method[] = [];
  let name = "";
  const record: typeof fetch = (input, init) => {
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- it is text here
    const { pathname } = new URL(String(input));
    found.push({ name, method: init?.method ?? "", path: pathname });
    const data = pathname === "/v1/events" ? { events: [], cursor: "c" } : [];
    return Promise.resolve(Response.json({ success: true, data, meta: { request_id: "req_1" } }));
  };
  const gatehouse = new Gatehouse({ apiKey: "gh_test_1", environment: "sandbox", fetch: record });
  for (const [resourceName, resource] of Object.entries(gatehouse) as [string, unknown][]) {
    if (typeof resource !== "object" || resource === null) continue;
    for (const methodName of methodsOf({ prototype: Object.getPrototypeOf(resource) as object })) {
      name = snakeCase(`${resourceName}.${methodName}`);
      const method = (resource as Record<string, (...args: unknown[]) => unknown>)[methodName]!;
      // the options come last
      const result = method.apply(resource, Array<string>(method.length - 1).fill("x"));
      if (isIterator(result)) await result.next();
      else await (result instanceof List ? result.then() : result);
    }
  }
  return found;
}
