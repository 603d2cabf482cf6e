import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { routesOf, type Document } from "../../../clients/generate/document.ts";
import { generatedFiles, staleFiles, writeGenerated } from "../../../clients/generate/write.ts";
import { ERROR_CODES as NODE_CODES } from "../../../clients/node/src/index.ts";
import { ERROR_CODES } from "../../../src/control/platform/errors.ts";
import { startWholeControl } from "../../support/whole-control.ts";
import { nodeMethods, type Method } from "./support/node-methods.ts";
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
  let node: readonly Method[];
  let python: {
    readonly routes: readonly Route[];
    readonly methods: Readonly<Record<"sync" | "async", readonly string[]>>;
    readonly codes: readonly string[];
  };

  before(async () => {
    // the sandbox has all that production has, and its people
    const control = await startWholeControl({ settings: { environment: "sandbox" } });
    document = (await (await fetch(`${control.url}/v1/openapi.json`)).json()) as Document;
    await control.close();
    node = await nodeMethods();
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

  it("Node.js: every route, and no other", () => {
    assert.deepEqual(placed(node.map(({ method, path }) => [method, path])), expected());
  });

  it("Python: every route, and no other", () => {
    assert.deepEqual(placed(python.routes), expected());
  });

  it("have the same methods, whose cases are the same then", () => {
    const names = [...new Set(node.map(({ name }) => name))].sort();
    assert.deepEqual(python.methods, { sync: names, async: names });
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
