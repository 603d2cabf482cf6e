import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import * as contract from "../../../src/envoy-contract.ts";
import { readOutcome } from "../../../src/extauthz/access-log-outcome.ts";
import { extension, type EnvoyJson } from "../../../src/gateway/envoy-json.ts";
import { LUA_DIRECTORY } from "../../../src/gateway/lua-bundle.ts";
import { askAdmin } from "../../../src/gateway/envoy-admin.ts";
import { luaContract } from "../../../src/gateway/lua-contract.ts";
import type { PlanIR } from "../../../src/policy/index.ts";
import { eventually } from "../../support/eventually.ts";
import { startLua } from "../../support/lua.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";

const { LUA_CONTRACT, NAMESPACE, NOTE, RESULT, STATE } = contract;
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Rooms that speak to Envoy. The other side of conditions and masks is compared by the cases of test/lua. */
const SPEAKERS = ["extauthz", "gateway", "decision", "graphql"];

/** Literals that are spelled as a word of the contract, and are something else. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  // Envoy's own filter, by its usual name
  "src/gateway/http-filters.ts": [NAMESPACE.decision],
  // members of a record in a file
  "src/decision/replay/replay-record.ts": ["decision_id", "request_id"],
  // where these words are from
  "src/graphql/refusals.ts": [LUA_CONTRACT.GRAPHQL, LUA_CONTRACT.GRAPHQL_TEXT].flatMap(leavesOf),
  // what is wrong with a document or a plan: test/lua compares it with policy/mask
  "gatehouse/json_tape.lua": ["too_large"],
  "gatehouse/mask.lua": ["plan"],
  "gatehouse/mask_errors.lua": ["plan"],
  // kinds of a verdict, which stay in Lua; members and types of messages
  "gatehouse/graphql_evaluate.lua": ["refused", "denied"],
  "gatehouse/graphql_socket.lua": ["refused", "result", "error"],
  "gatehouse/graphql_payload.lua": ["extensions"],
  // a directive of GraphQL, and its spread
  "gatehouse/graphql_document.lua": ["stream", "..."],
  "gatehouse/graphql_tokens.lua": ["..."],
  "gatehouse/messages.lua": ["type"],
  // where a scanner is
  "gatehouse/other_types.lua": ["closed"],
  // headers
  "gatehouse/guard.lua": ["upgrade"],
  "gatehouse/refusal.lua": ["upgrade"],
  "gatehouse/upgrade.lua": ["upgrade", "websocket"],
};

/** Where also its ordinary words would be meant. */
const SPEAK_OF_NOTHING_ELSE = [
  ...["extauthz/encode", "extauthz/plan-metadata", "extauthz/record-metadata", "extauthz/access-log-decode"],
  "extauthz/access-log-entry",
  ...["gateway/decision-metadata", "gateway/access-log-lines", "decision/connections/connection-slots"],
];

/** In TypeScript, one word in lower case may be anybody's; those of several parts, codes and texts are not spelled twice by chance. */
const isOrdinary = (value: string) => /^[a-z]+$/.test(value);

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
const SHARED = new Set([LUA_CONTRACT, contract.HEADER, contract.EXTENSION].flatMap(leavesOf));

/** Lua without comments and with strings apart. */
function readLua(text: string): { readonly code: string; readonly literals: readonly string[] } {
  const literals: string[] = [];
  const code = text.replaceAll(
    /--[^\n]*|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g,
    (_, double, single) => {
      const literal = (double ?? single) as string | undefined;
      if (literal !== undefined) literals.push(literal);
      return literal === undefined ? "" : '""';
    },
  );
  return { code, literals };
}
const LUA = globSync("**/*.lua", { cwd: LUA_DIRECTORY })
  .sort()
  .map((name) => ({ name, ...readLua(readFileSync(join(LUA_DIRECTORY, name), "utf8")) }));

/** Texts in TypeScript, but for names of modules. */
function literalsIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest);
  const literals: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node)) literals.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return literals;
}

describe("what TypeScript and the Lua in Envoy share", () => {
  it("is spelled by no module of Lua itself: namespaces, keys, states, codes, texts", () => {
    assert.ok(LUA.length > 35, String(LUA.length));
    for (const { name, code, literals } of LUA) {
      for (const literal of literals) {
        assert.ok(
          !SHARED.has(literal) || OTHERWISE[name]?.includes(literal),
          `${name}: "${literal}" is of the contract`,
        );
        assert.ok(
          !/^[A-Z]+(?:_[A-Z]+)+$/.test(literal),
          `${name}: the code ${literal} is not of the contract`,
        );
      }
      // what is kept under a name is looked for by the contract's
      assert.doesNotMatch(code, /\b(?:decision|notes)\.[a-z]/, name);
      assert.doesNotMatch(code, /stream\.note\(handle, ""/, name);
    }
  });

  it("is spelled by no room of TypeScript that speaks to Envoy", () => {
    for (const room of SPEAKERS) {
      for (const file of globSync(`src/${room}/**/*.ts`, { cwd: ROOT })) {
        const allowed = OTHERWISE[file] ?? [];
        for (const literal of literalsIn(file))
          if (SHARED.has(literal) && !isOrdinary(literal) && !REASONS_TOO.has(literal))
            assert.ok(allowed.includes(literal), `${file}: "${literal}" is of the contract`);
      }
    }
    for (const file of SPEAK_OF_NOTHING_ELSE) {
      const own = literalsIn(`src/${file}.ts`).filter((literal) => SHARED.has(literal));
      assert.deepEqual(own, [], file);
    }
  });
  /** Codes of decisions, which src/reasons.ts has: Lua says the same of connections that it closes. */
  const REASONS_TOO = new Set(["TOKEN_EXPIRED", "SERVICE_UNAVAILABLE", "ACCESS_DENIED", "INTERNAL_ERROR"]);

  it("has every name that Lua takes from it", () => {
    let found = 0;
    for (const { name, code } of LUA) {
      const tables = new Map<string, string>();
      for (const [, locals = "", values = ""] of code.matchAll(/^local ([A-Z_, ]+) =([^=]*?)(?=^\S|^$)/gm)) {
        const from = values.split(",").map((value) => /^\s*contract\.([A-Z_]+)\s*$/.exec(value)?.[1]);
        for (const [index, local] of locals.split(",").entries())
          if (from[index] !== undefined) tables.set(local.trim(), from[index]);
      }
      for (const [, local = "", table = "", member] of code.matchAll(
        /(?<![\w.])(?:contract\.([A-Z_]+)|([A-Z][A-Z_]*))\.?(\w+)?/g,
      )) {
        const group = local === "" ? tables.get(table) : local;
        if (group === undefined) continue;
        assert.ok(Object.hasOwn(LUA_CONTRACT, group), `${name}: ${group}`);
        const names = LUA_CONTRACT[group as keyof typeof LUA_CONTRACT];
        if (member === undefined || typeof names !== "object") continue;
        found += 1;
        assert.ok(Object.hasOwn(names, member) || member === "format", `${name}: ${group}.${member}`);
      }
    }
    assert.ok(found > 90, String(found));
  });

  it("is in Lua what it is here, and closed: a name that it does not have raises an error", async () => {
    const lua = await startLua(`
      local contract, json = require("gatehouse.contract"), require("gatehouse.json")
      function run(input)
        if input == "all" then return json.encode(contract) end
        return tostring(pcall(function() return contract[input].nothing end))
      end
    `);
    try {
      assert.deepEqual(JSON.parse((await lua.call("all")).toString()), LUA_CONTRACT);
      for (const [group, names] of Object.entries(LUA_CONTRACT))
        if (typeof names === "object") assert.equal((await lua.call(group)).toString(), "false", group);
    } finally {
      await lua.close();
    }
    assert.ok(!/[^\x20-\x7e\n]/.test(luaContract()));
  });
});

describe("what Lua notes, in a real Envoy", () => {
  let gateway: TestGateway;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-notes-"));
    gateway = await startGateway({ change: (bootstrap) => withNotes(bootstrap, join(folder, "notes")) });
  });
  after(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  const masking = responsePlan(field("ssn"));
  const passing: PlanIR = { ...masking, response: { ...masking.response!, otherTypes: "pass" } };
  const cases: readonly {
    readonly result: keyof typeof RESULT;
    readonly reason?: keyof typeof contract.UNREAD;
    readonly state?: keyof typeof STATE;
    readonly plan: PlanIR;
    readonly type: string;
    readonly body: string;
    /** The client leaves before the answer is over. */
    readonly leaves?: true;
  }[] = [
    { result: "masked", state: "done", plan: masking, type: "application/json", body: '{"ssn":1}' },
    { result: "unchanged", state: "done", plan: masking, type: "application/json", body: '{"a":1}' },
    {
      result: "masked",
      state: "stream",
      plan: masking,
      type: "application/x-ndjson",
      body: '{"ssn":1}\n{}\n',
    },
    {
      ...{ result: "refused", reason: "not_json", state: "refused" },
      ...{ plan: masking, type: "text/plain", body: "text" },
    },
    { result: "passed", state: "done", plan: passing, type: "text/html", body: "<p>" },
    {
      ...{ result: "refused", reason: "looks_like_json", state: "done" },
      ...{ plan: passing, type: "text/html", body: "{}" },
    },
    {
      ...{ result: "headers_only", state: "stream" },
      ...{ plan: { ir: 1, preflight: true }, type: "text/plain", body: "text" },
    },
    { result: "unfinished", plan: masking, type: "application/json", body: '{"ssn":', leaves: true },
  ];
  /** What Envoy has read from the application. */
  const receivedBytes = async () => {
    const name = "cluster.backend.upstream_cx_rx_bytes_total";
    const { body } = await askAdmin(gateway.envoy.admin, "GET", `/stats?filter=^${name}$`);
    return Number(/: (\d+)\s*$/.exec(body)?.[1]);
  };
  for (const { result, reason, state, plan, type, body, leaves } of cases) {
    it(`is ${result}${reason === undefined ? "" : ` (${reason})`}, ${state ?? "under way"}`, async () => {
      const id = `dec_${Math.random().toString(36).slice(2)}`;
      gateway.authz.decide = () => planned(plan, { [contract.DECISION.decision_id]: id });
      gateway.upstream.answer = (_request, response) => {
        response.writeHead(200, { "content-type": type });
        if (leaves) response.write(body);
        else response.end(body);
      };
      const leaving = new AbortController();
      const before = await receivedBytes();
      const asked = fetch(`http://127.0.0.1:${gateway.port}/`, { signal: leaving.signal });
      const whole = asked.then((answer) => answer.text());
      if (leaves) {
        await eventually("the part of the answer", async () => (await receivedBytes()) > before);
        leaving.abort();
        await assert.rejects(whole, { name: "AbortError" });
      } else await whole;
      const notes = await eventually("the notes", async () => {
        const lines = (await readFile(join(folder, "notes"), "utf8").catch(() => "")).split("\n");
        const found = lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Notes]));
        return found.find(({ decision_id }) => decision_id === id);
      });
      const noted = readOutcome(notes.outcome ?? "");
      assert.ok(noted?.event === "response", JSON.stringify(notes));
      assert.deepEqual(
        [noted.response.result, noted.response.reason, notes.state],
        [result, reason, state],
        JSON.stringify(notes),
      );
    });
  }
  it("is every result that there is", () => {
    assert.deepEqual(new Set(cases.map(({ result }) => result)), new Set(Object.keys(RESULT)));
    assert.deepEqual(new Set(cases.flatMap(({ state }) => state ?? [])), new Set(Object.keys(STATE)));
  });
});

type Notes = { readonly [Name in keyof typeof NOTE]?: string };

/** Has Envoy write a line of what Lua noted about each request. */
function withNotes(bootstrap: EnvoyJson, path: string): EnvoyJson {
  const members = Object.keys(NOTE).map((name) => [name, `%DYNAMIC_METADATA(${NAMESPACE.notes}:${name})%`]);
  const log = extension(
    "envoy.access_loggers.file",
    "envoy.extensions.access_loggers.file.v3.FileAccessLog",
    { path, log_format: { omit_empty_values: true, json_format: Object.fromEntries(members) as EnvoyJson } },
  );
  return JSON.parse(JSON.stringify(bootstrap), (name, value: unknown) =>
    name === "access_log" && Array.isArray(value) ? [...(value as unknown[]), log] : value,
  ) as EnvoyJson;
}
