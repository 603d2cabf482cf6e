import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { routesOf, type Document } from "../../../clients/generate/document.ts";
import { generatedFiles, staleFiles, writeGenerated } from "../../../clients/generate/write.ts";
import { ERROR_CODES as NODE_CODES, Gatehouse, List } from "../../../clients/node/src/index.ts";
import { ERROR_CODES } from "../../../src/control/platform/errors.ts";
import { startWholeControl } from "../../support/whole-control.ts";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";

const PYTHON_SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const PYTHON_ROUTES = fileURLToPath(new URL("support/routes.py", import.meta.url));

type Route = readonly [method: string, path: string];

/** For browsers alone: a key cannot call them. */
function isForBrowsers(path: string): boolean {
  return path.startsWith("/dashboard/") || path === "/auth/callback";
}

describe("client libraries and the API", () => {
  let document: Document;
  let python: { readonly routes: readonly Route[]; readonly codes: readonly string[] };

  before(async () => {
    // the sandbox has all that production has, and its people
    const control = await startWholeControl({ settings: { environment: "sandbox" } });
    document = (await (await fetch(`${control.url}/v1/openapi.json`)).json()) as Document;
    await control.close();
    const env = pythonEnvironment(PYTHON_SOURCE, await pythonPackages("client"));
    python = JSON.parse(
      (await promisify(execFile)("python3", [PYTHON_ROUTES], { env })).stdout,
    ) as typeof python;
  });

  it("have the types of the document that the control plane serves (GATEHOUSE_UPDATE=1 writes them)", async () => {
    const files = await generatedFiles(document);
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeGenerated(files);
    assert.deepEqual(staleFiles(files), []);
  });

  it("Node.js: every route, and no other", async () => {
    assert.deepEqual(placed(await nodeRoutes()), expected());
  });

  it("Python: every route, and no other", () => {
    assert.deepEqual(placed(python.routes), expected());
  });

  it("every error code", () => {
    assert.deepEqual([...NODE_CODES].sort(), Object.keys(ERROR_CODES).sort());
    assert.deepEqual([...python.codes].sort(), Object.keys(ERROR_CODES).sort());
  });

  function expected(): readonly string[] {
    return routesOf(document)
      .filter(({ path }) => !isForBrowsers(path))
      .map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, "x")}`)
      .sort();
  }
});

function placed(routes: readonly Route[]): readonly string[] {
  return [...new Set(routes.map(([method, path]) => `${method} ${path.replace("/v1", "")}`))].sort();
}

function isIterator(value: unknown): value is AsyncIterator<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/** What is requested when each method of each resource is called once. */
async function nodeRoutes(): Promise<readonly Route[]> {
  const seen: Route[] = [];
  const record: typeof fetch = (input, init) => {
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- it is text here
    const { pathname } = new URL(String(input));
    seen.push([init?.method ?? "", pathname]);
    const data = pathname === "/v1/events" ? { events: [], cursor: "c" } : [];
    return Promise.resolve(Response.json({ success: true, data, meta: { request_id: "req_1" } }));
  };
  const gatehouse = new Gatehouse({ apiKey: "gh_test_1", environment: "sandbox", fetch: record });
  for (const resource of Object.values(gatehouse) as unknown[]) {
    if (typeof resource !== "object" || resource === null) continue;
    const prototype = Object.getPrototypeOf(resource) as object;
    for (const name of Object.getOwnPropertyNames(prototype).filter((one) => one !== "constructor")) {
      const method = (resource as Record<string, (...args: unknown[]) => unknown>)[name]!;
      // the options come last
      const result = method.apply(resource, Array<string>(method.length - 1).fill("x"));
      if (isIterator(result)) await result.next();
      else await (result instanceof List ? result.then() : result);
    }
  }
  return seen;
}
