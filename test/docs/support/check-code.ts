import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../../../docs/.vitepress/pages.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { placeOf, type Block } from "./blocks.ts";

/** What the text around an example says that there is. */
const GIVEN_IN_JAVASCRIPT = `
declare const gatehouse: import("gatehouse-access").Gatehouse;
declare const TokenVerifier: typeof import("gatehouse-access").TokenVerifier;
declare const createClient: typeof import("graphql-ws").createClient;
declare const app: import("express").Express;
declare const request: { readonly url: string; readonly headers: Record<string, string> };
declare const session: { readonly state: string };
declare const rawBody: Buffer;
declare const signIn: import("gatehouse-access").SignIn;
declare const load: () => Promise<string | undefined>;
declare const handle: (event: object) => Promise<void>;
declare const save: (cursor: string) => Promise<void>;
declare const id: string;
declare const customerId: string;
declare const customer_id: string;
declare const token: string;
declare const newSecret: string;
declare const oldSecret: string;
`;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  // JavaScript has no way to say that a value is there
  ...{ strict: true, noImplicitAny: false, strictNullChecks: false },
  ...{ checkJs: true, allowJs: true, noEmit: true, skipLibCheck: true },
  ...{ allowImportingTsExtensions: true, types: ["node"] },
  paths: {
    "gatehouse-access": ["./clients/node/src/index.ts"],
    "gatehouse-access/testing": ["./clients/node/src/testing/index.ts"],
    "gatehouse-access/*": ["./clients/node/src/*.ts"],
    "@gatehouse-access/gatehouse/aws-lambda": ["./src/processes/lambda/handler.ts"],
  },
};

/** Type-checks blocks of TypeScript and JavaScript, each as a module of its own. @returns what is wrong */
export function typeProblems(blocks: readonly Block[]): readonly string[] {
  const folder = join(ROOT, "test/docs/blocks");
  const files = new Map<string, { readonly text: string; readonly block?: Block }>([
    [join(folder, "given.d.ts"), { text: GIVEN_IN_JAVASCRIPT }],
  ]);
  for (const [index, block] of blocks.entries()) {
    const name = `${index}.${block.language === "ts" ? "mts" : "mjs"}`;
    // a module, whatever it imports
    files.set(join(folder, name), { text: `${block.text}export {};\n`, block });
  }
  const host = ts.createCompilerHost(OPTIONS);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name)?.text ?? readFile(name);
  host.getSourceFile = (name, options, ...rest) => {
    const text = files.get(name)?.text;
    return text === undefined
      ? getSourceFile(name, options, ...rest)
      : ts.createSourceFile(name, text, options);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  const problems = program
    .getOptionsDiagnostics()
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  for (const [name, { block }] of files) {
    const file = program.getSourceFile(name);
    if (file === undefined) throw new Error(`TypeScript has not read ${name}`);
    for (const { start, messageText } of [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]) {
      const line = file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      const told = ts.flattenDiagnosticMessageText(messageText, " ");
      problems.push(`${block === undefined ? name : placeOf(block)}: ${told} (line ${line} of the block)`);
    }
  }
  return problems;
}

const GIVEN_IN_PYTHON = `
from typing import Any
from gatehouse_access import (
    AsyncTokenVerifier, Gatehouse, SignIn, TokenVerifier, verify_webhook,
)
gatehouse = Gatehouse(api_key="", environment="sandbox")
sign_in = SignIn(gatehouse)
application: Any = ...
body = b""
def load() -> "str | None": ...
def handle(event: object) -> None: ...
def save(cursor: str) -> None: ...
request: Any = ...
session: "dict[str, str]" = {}
app: Any = ...
flask_app: Any = ...
customer_id = new_secret = old_secret = ""
`;

/** Checks blocks of Python with pyright, each as a module of its own. @returns what is wrong */
export async function pythonProblems(blocks: readonly Block[]): Promise<readonly string[]> {
  const folder = await temporaryDirectory();
  const given = GIVEN_IN_PYTHON.split("\n").length;
  await Promise.all(
    blocks.map(({ text }, index) =>
      writeFile(join(folder, `block_${index}.py`), `${GIVEN_IN_PYTHON}\n${text}`),
    ),
  );
  const config = {
    include: ["."],
    extraPaths: [join(ROOT, "clients/python/src")],
    pythonVersion: "3.9",
    // what the library imports in its turn is checked where that is installed
    reportMissingModuleSource: false,
  };
  await writeFile(join(folder, "pyrightconfig.json"), JSON.stringify(config));
  const pyright = [join(ROOT, "node_modules/pyright/index.js"), "-p", folder, "--outputjson"];
  const printed = await new Promise<string>((resolve) => {
    execFile(process.execPath, pyright, { maxBuffer: 1e8 }, (_error, stdout) => {
      resolve(stdout);
    });
  });
  const { generalDiagnostics, summary } = JSON.parse(printed) as {
    generalDiagnostics: readonly {
      file: string;
      severity: string;
      message: string;
      range: { start: { line: number } };
    }[];
    summary: { filesAnalyzed: number };
  };
  if (summary.filesAnalyzed !== blocks.length)
    return [`pyright has read ${summary.filesAnalyzed} of ${blocks.length} blocks`];
  return generalDiagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ file, message, range }) => {
      const block = blocks[Number(/block_(\d+)\.py$/.exec(file)?.[1])];
      const place = block === undefined ? file : placeOf(block);
      return `${place}: ${message} (line ${range.start.line + 1 - given} of the block)`;
    });
}
