import assert from "node:assert/strict";
import { dump } from "js-yaml";
import { quoted, rowsOf } from "./page-tables.ts";
import { folderOf, keptCommandLine } from "./support.ts";

/** A request that the check refuses, and what is also asked of the rules where it is accepted. */
interface Accepted {
  readonly path: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Checks of other rows that refuse it as well. */
  readonly beside?: readonly string[];
  /** The other readings, as `policy explain` lists them. */
  readonly also?: readonly string[];
  /** Rules, if not one for everything. */
  readonly rules?: readonly object[];
  /** The reason; a permit if there is none. */
  readonly denied?: string;
}

const everything = (condition: string) => [{ path: "/**", condition }];
/** The readings of a query: a rule for either alone is not enough. */
const [ONE, TWO] = ['request.query.a == "1;b=2"', 'request.query.a == "1"'] as const;

/** By the checks of each row. */
const ACCEPTED: Readonly<Record<string, readonly Accepted[]>> = {
  encoded_slash: [
    { path: "/projects/a%2fb", also: ["/projects/a/b"] },
    {
      path: "/projects/a%2fb",
      also: ["/projects/a/b"],
      rules: [
        { resource: "GET /projects/{id}", condition: 'path.id == "a/b"' },
        { resource: "GET /projects/a/b", condition: "true" },
      ],
    },
    {
      path: "/projects/a%2fb",
      rules: [{ resource: "GET /projects/{id}", condition: "true" }],
      denied: "NO_MATCHING_RULE",
    },
  ],
  slash_like: [
    { path: "/a%5cb", also: ["/a/b"] },
    { path: "/a%ef%bc%8fb", also: ["/a/b"] },
  ],
  empty_segment: [
    { path: "/a//b", also: ["/a/b"] },
    { path: "//a/b", also: ["/a/b", "/b"] },
  ],
  dot_segment: [
    { path: "/a/../b", also: ["/b"] },
    { path: "/a/%2e%2e/b", also: ["/b"] },
  ],
  path_parameter: [{ path: "/a;v=1/b", also: ["/a/b"] }],
  double_encoding: [
    { path: "/%2561", also: ["/a"] },
    { path: "/%2561", also: ["/a"], rules: everything('request.path in ["/%2561", "/a"]') },
  ],
  encoded_delimiter: [
    { path: "/a%3fx=1", also: ["/a"] },
    {
      path: "/a%3fx=1",
      also: ["/a"],
      rules: everything('request.path == "/a%3Fx=1" or (request.path == "/a" and request.query.x == "1")'),
    },
  ],
  control_character: [
    { path: "/a%00b", also: ["/ab", "/a"] },
    {
      path: "/?x=a%00b",
      also: ["/", "/"],
      rules: everything('request.query.x != "ab" and request.query.x != "b" and exists(request.query.x)'),
      denied: "CONDITION_FALSE",
    },
  ],
  "malformed_percent_encoding invalid_utf8": [
    { path: "/a%u002fb", beside: ["double_encoding"], also: ["/a%2Fb", "/a/b"] },
    { path: "/a%c0%afb", also: ["/a%C3%80%C2%AFb", "/ab", "/a%2Fb", "/a/b"] },
  ],
  encoded_unreserved: [{ path: "/%61", also: ["/%2561"] }],
  file_stream: [{ path: "/a.txt::$DATA", also: ["/a.txt"] }],
  query_separator: [
    { path: "/?a=1;b=2", also: ["/"], rules: everything(`${ONE} or ${TWO}`) },
    { path: "/?a=1;b=2", rules: everything(ONE), denied: "CONDITION_FALSE" },
    { path: "/?a=1;b=2", rules: everything(TWO), denied: "CONDITION_FALSE" },
  ],
  method_override: [
    { path: "/a", method: "POST", headers: ["x-http-method-override: DELETE"], also: ["DELETE /a"] },
  ],
  "conflicting_host malformed_header": [
    {
      path: "/a",
      headers: ["host: a.test", "host: b.test"],
      rules: everything('request.host == "a.test"'),
      denied: "CONDITION_UNKNOWN",
    },
    // a header that is not UTF-8 cannot be typed: test/cases/request/switched-off.yaml has it
  ],
  duplicate_json_member: [
    {
      path: "/a",
      method: "POST",
      body: '{"n":1,"n":2}',
      rules: [{ resource: "POST /a", condition: "request.body.n == 2" }],
    },
  ],
  "the other checks": [
    { path: "/a", headers: ["x_a: 1"], rules: everything('request.headers["x_a"] == "1"') },
    {
      path: "/a",
      method: "POST",
      body: "{",
      rules: [{ resource: "POST /a", condition: "request.body.n != 2" }],
      denied: "CONDITION_UNKNOWN",
    },
  ],
};
/** The checks that a row without names is tried with. */
const OTHERS = ["underscore_header", "malformed_json"];

describe("docs/policies.md: its tables about ambiguous requests", () => {
  const kept = keptCommandLine();
  after(kept.close);

  /** What `policy explain` prints about a request at a gateway that accepts these. */
  async function explained(accepting: readonly (string | object)[], asked: Accepted): Promise<string> {
    const { path, method = "GET", headers = [], body, rules = everything("true") } = asked;
    const section = (name: string) => rules.filter((rule) => name in rule);
    const folder = await folderOf({
      "gateway.yaml": dump({
        identity: { issuer: "https://login.test", audience: "app" },
        gateway: { accept_ambiguous: accepting },
        policies: { directory: "policies" },
      }),
      "policies/default.yaml": dump({ policies: section("resource"), web_policies: section("path") }),
    });
    const args = ["policy", "explain", "--config", "gateway.yaml", "--request", `${method} ${path}`];
    for (const header of headers) args.push("--header", header);
    if (body !== undefined) args.push("--body", body);
    const { code, stdout, stderr } = await kept.gatehouse(args, { cwd: folder.path });
    await folder.remove();
    assert.deepEqual([code, stderr], [0, ""], stdout);
    return stdout;
  }
  const othersOf = (printed: string) =>
    [...printed.matchAll(/^also permitted as (.+)$/gm)].map(([, request = ""]) =>
      request.replace(/^GET /, ""),
    );

  const rows = rowsOf("accepted", "the rules are evaluated for");

  it("accepted: has these rows", () => {
    assert.deepEqual(
      rows.map(([cell = ""]) => namesOf(cell)),
      Object.keys(ACCEPTED),
    );
  });

  for (const [cell = "", readings = ""] of rows)
    it(`accepted: ${namesOf(cell)}`, async () => {
      const cases = ACCEPTED[namesOf(cell)] ?? [];
      const checks = cell.startsWith("`") ? namesOf(cell).split(" ") : OTHERS;
      for (const asked of cases) {
        const printed = await explained([...checks, ...(asked.beside ?? [])], asked);
        assert.match(
          printed,
          new RegExp(`^${asked.denied === undefined ? "ALLOW" : `DENY .*${asked.denied}`}`),
        );
        if (asked.denied === undefined) assert.deepEqual(othersOf(printed), asked.also ?? [], printed);
        // without the entry it is refused before any rule
        assert.match(await explained(asked.beside ?? [], asked), /^DENY \(400\)/);
      }
      // what the row names as paths is what is tried
      const tried = new Set(
        cases.flatMap(({ path, also = [] }) => [path, ...also].flatMap((one) => [one, decoded(one)])),
      );
      const shown = quoted(readings).filter((text) => text.startsWith("/") && !text.includes("{"));
      for (const path of [...quoted(cell).filter((text) => /^[/?]/.test(text)), ...shown])
        assert.ok(
          [path, `/${path}`, `${path}/b`].some((one) => tried.has(one)),
          path,
        );
    });

  it("reading: each decides by the path that it says, for the checks that it lists", async () => {
    const [every, keptRow, resolved, ...more] = rowsOf("`reading`", "the rules see", "for");
    assert.deepEqual(
      [quoted(every?.[0]), quoted(keptRow?.[0]), quoted(resolved?.[0]), more],
      [["every"], ["kept"], ["resolved"], []],
    );
    const stated = (path: string, checks: readonly string[], reading: string) => [{ path, checks, reading }];
    const slash = { path: "/npm/@scope%2fname" };
    const npm = [{ resource: "GET /npm/{package}", condition: 'path.package == "@scope/name"' }];
    for (const [reading, isPermitted] of [
      ["every", false],
      ["kept", true],
      ["resolved", false],
    ] as const) {
      const printed = await explained(stated("/npm/**", ["encoded_slash"], reading), {
        ...slash,
        rules: npm,
      });
      assert.match(printed, isPermitted ? /^ALLOW/ : /^DENY \(403\) NO_MATCHING_RULE/, reading);
    }
    const empty = { path: "/a//b", rules: everything('request.path == "/a//b"') };
    assert.match(await explained(stated("/a/**", ["empty_segment"], "kept"), empty), /^ALLOW/);
    const all = { path: "/a;v=1/b%2fc//d", rules: [{ resource: "GET /a/b/c/d", condition: "true" }] };
    const checks = quoted(resolved?.[2]);
    assert.match(await explained(stated("/a/**", checks, "resolved"), all), /^ALLOW/);
    // each check of a row can have the reading, and then the rules see one
    for (const row of [keptRow, resolved])
      for (const check of quoted(row?.[2]).filter((text) => text !== ";")) {
        const [asked] = ACCEPTED[check] ?? [];
        assert.ok(asked, check);
        const below = { ...asked, path: `/x${asked.path}`, rules: everything("true") };
        const reading = quoted(row?.[0])[0] ?? "";
        const printed = await explained(stated("/x/**", [check], reading), below);
        assert.match(printed, /^ALLOW/, check);
        assert.deepEqual(othersOf(printed), [], `${check} ${reading}`);
        assert.notDeepEqual(othersOf(await explained(stated("/x/**", [check], "every"), below)), [], check);
      }
  });
});

/** The checks of a row: what stands in back quotes before an example; or its text. */
function namesOf(cell: string): string {
  const names = quoted(cell).filter((text) => /^\w+$/.test(text));
  return names.length > 0 ? names.join(" ") : cell;
}

/** The path with what is encoded in it; as it is, if that is no text. */
function decoded(path: string): string {
  return /%(?:00|c0|u)/.test(path) ? path : decodeURIComponent(path);
}
