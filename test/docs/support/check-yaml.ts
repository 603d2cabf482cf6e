import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { SECTIONS } from "../../../src/config/keys.ts";
import type { PolicyFile } from "../../../src/policy/diagnostic.ts";
import { compilePolicySet } from "../../../src/policy/index.ts";
import { parseSuite } from "../../../src/policy/suite/index.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { placeOf, type Block } from "./blocks.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** The sections that the entries of a list belong to, by a key that all of them have. */
const SECTION_OF: readonly (readonly [key: string, section: string])[] = [
  ["resource", "policies"],
  ["path", "web_policies"],
  ["endpoint", "response_filters"],
  ["api_pattern", "response_masks"],
  ["query", "graphql_policies"],
  ["mutation", "graphql_policies"],
  ["subscription", "graphql_policies"],
  ["connection", "websocket_policies"],
];
const OF_POLICY_FILES = new Set([
  ...["policy_set", "version", "default", "preflight", "audit", "cors", "attributes", "graphql"],
  ...SECTION_OF.map(([, section]) => section),
]);
const OF_SUITES = ["tests", "matrix"];

/** What a `gateway.yaml` needs that an excerpt may leave out. */
const REST_OF_GATEWAY: Readonly<Record<string, Mapping>> = {
  gateway: { backend: "http://127.0.0.1:3000" },
  identity: { issuer: "https://login.example.com", audience: "my-api" },
};

/** What a block of YAML is; `undefined` if it is none of ours. */
export function kindOf(text: string): "gateway" | "policies" | "suite" | undefined {
  const value: unknown = load(text);
  if (Array.isArray(value)) return sectionOf(value) === undefined ? undefined : "policies";
  if (typeof value !== "object" || value === null) return undefined;
  const keys = Object.keys(value);
  if (OF_SUITES.some((key) => keys.includes(key))) return "suite";
  // both files have `policies` and `audit`: here a list or a word, there a mapping
  const isOfGateway = (key: string) => SECTIONS.includes(key) && isMapping((value as Mapping)[key]);
  if (keys.every(isOfGateway)) return "gateway";
  return keys.every((key) => OF_POLICY_FILES.has(key)) ? "policies" : undefined;
}

function sectionOf(items: readonly unknown[]): string | undefined {
  const [first] = items;
  if (!isMapping(first)) return undefined;
  return SECTION_OF.find(([key]) => Object.hasOwn(first, key))?.[1];
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads a block as the programs would.
 *
 * @param others - every block, for files that a policy file names
 * @returns what is wrong with it
 */
export async function yamlProblems(block: Block, others: readonly Block[]): Promise<readonly string[]> {
  const problems: string[] = [];
  // steps that are numbered are one state of a file each
  for (const text of block.text.split(/^(?=# \d+\. )/m))
    problems.push(...(await problemsOf(withPlaces(text), placeOf(block), attachedTo(block, others))));
  return problems;
}

/** Keys whose values a reader fills in. */
function withPlaces(text: string): string {
  return text.replaceAll(/\b(?:OLD|NEW)\b/g, (name) => Buffer.alloc(32, name).toString("base64"));
}

/** The files that a policy file names: a schema is on the same page; documents are in Relay's form, and seldom shown. */
function attachedTo({ page, text }: Block, others: readonly Block[]): readonly PolicyFile[] {
  const nameIn = (key: string) => new RegExp(`^ +${key}: (\\S+)`, "m").exec(text)?.[1];
  const [schema, persisted] = [nameIn("schema"), nameIn("persisted")];
  const sdl = others.find((other) => other.page === page && other.language === "graphql");
  return [
    ...(schema === undefined || sdl === undefined ? [] : [{ name: schema, text: sdl.text }]),
    ...(persisted === undefined ? [] : [{ name: persisted, text: '{ "ids": "{ __typename }" }' }]),
  ];
}

async function problemsOf(
  text: string,
  place: string,
  attached: readonly PolicyFile[],
): Promise<readonly string[]> {
  let kind;
  try {
    kind = kindOf(text);
  } catch (error) {
    return [`${place}: ${String(error)}`];
  }
  if (kind === undefined) return [`${place}: is neither a policy file, a suite nor a gateway.yaml`];
  if (kind === "gateway") return (await gatewayProblems(text)).map((problem) => `${place}: ${problem}`);
  const file = { name: `${place}.yaml`, text: kind === "policies" ? withSection(text) : text };
  const { diagnostics } =
    kind === "suite"
      ? parseSuite(file)
      : compilePolicySet([{ ...file, name: "default.yaml" }, ...attached], { name: "default" });
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ message, line }) => `${place}: ${message} (line ${line} of the block)`);
}

/** A list, as the section that it is a part of. */
function withSection(text: string): string {
  const value: unknown = load(text);
  return Array.isArray(value) ? `${sectionOf(value) ?? ""}:\n${text.replaceAll(/^(?=.)/gm, "  ")}` : text;
}

async function gatewayProblems(text: string): Promise<readonly string[]> {
  const written = load(text) as Readonly<Record<string, Mapping>>;
  const rest = Object.entries(REST_OF_GATEWAY).flatMap(([section, keys]) =>
    Object.entries(keys)
      .filter(([key]) => written[section]?.[key] === undefined)
      .map(([key, value]) => [`${section}.${key}`, value]),
  );
  const file = join(await temporaryDirectory(), "gateway.yaml");
  await writeFile(file, text);
  const result = loadGatewayConfig({ file, env: {}, overrides: Object.fromEntries(rest) as Mapping });
  return result.ok ? [] : [result.errors];
}
