import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${ROOT}docs/security.md`, "utf8");
const part = (heading: string) => page.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";

/** The cells of a table's rows, without its head. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** The tests that a cell names: files under `test/`, without their ending. */
function testsIn(cell: string): readonly string[] {
  let last = "";
  return [...cell.matchAll(/`([^`\s]+)`/g)].flatMap(([, name = ""]) => {
    if (/^[A-Z_]+$|^conflicting_|^make$|^cors$|^%/.test(name)) return [];
    // the file before it, and more: `a/identify`, `-refused`
    const path = name.startsWith("-") ? last + name : name;
    if (!name.startsWith("-")) last = path;
    return [path];
  });
}

describe("operations: the security page", () => {
  const attacks = rowsOf(part("What an attacker varies, and the tests"));
  const attackers = rowsOf(part("Who attacks, and what stops them"));

  it("names tests that exist", () => {
    const named = [
      ...attacks.map(([, tests = ""]) => tests),
      ...attackers.map((row) => row[3] ?? ""),
    ].flatMap(testsIn);
    assert.ok(named.length > 150, String(named.length));
    const missing = named.filter(
      (path) =>
        globSync([`test/${path}`, `test/${path}.*`, `test/${path}.test.ts`], { cwd: ROOT }).length === 0,
    );
    assert.deepEqual(missing, []);
  });

  it("has a group of tests for whatever an attacker of the threat model varies", () => {
    const groups = attacks.flatMap(([what = ""]) => /\*\*([\w ]+)\*\*/.exec(what)?.[1] ?? []);
    const classes =
      "framing transport spelling disguise label side channels moment who else size silence fallback trust";
    for (const group of groups) assert.ok(classes.includes(group), group);
    const used = attackers.flatMap((row) =>
      (row[3] ?? "").split(",").flatMap((name) => (name.includes("`") ? [] : [name.trim()])),
    );
    assert.deepEqual(new Set(used), new Set(groups));
  });

  it("names settings that exist", () => {
    const settings = readFileSync(`${ROOT}docs/configuration.md`, "utf8");
    const named = [
      ...part("Hardening").matchAll(/`((?:gateway|api|authz|audit|identity|telemetry)\.[a-z_.]+)/g),
    ].map(([, name = ""]) => name);
    assert.ok(named.length > 6);
    for (const name of named) assert.ok(settings.includes(`**\`${name}`), name);
  });
});
