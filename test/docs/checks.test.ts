import assert from "node:assert/strict";
import { ApiCalls } from "./support/api-calls.ts";
import { jsonProblems } from "./support/check-json.ts";
import { ShellPage } from "./support/check-shell.ts";
import { kindOf, yamlProblems } from "./support/check-yaml.ts";
import { parseCurl } from "./support/curl.ts";
import { parseShell } from "./support/shell.ts";

const blockOf = (language: string, text: string) => ({ page: "docs/x.md", line: 1, language, text });

const API = new ApiCalls({
  paths: {
    "/things": {
      get: { parameters: [{ name: "limit", in: "query" }] },
      post: {
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: { name: { type: "string" } },
                additionalProperties: false,
              },
            },
          },
        },
      },
    },
    "/things/{id}": { get: {} },
    "/things/own": { delete: {} },
  },
  components: {},
});

describe("docs: the commands of a block", () => {
  const words = (text: string) => parseShell(text).commands.map((command) => command.words.join("|"));

  it("are those that the shell would run", () => {
    assert.deepEqual(words("a 'b c' \"d $X\" # e\nf | g && h; i \\\n  j &\n"), [
      "a|b c|d $X",
      "f",
      "g",
      "h",
      "i|j",
    ]);
    assert.deepEqual(words("cat > x <<END\nnot 'a command\nEND\nafter\n"), ["cat", "after"]);
    assert.deepEqual(words('A=$(b c) d "$(e)"\n'), ["b|c", "e", "d|$(...)"]);
    assert.deepEqual(words("if a; then b; else c; fi\nfor x in 1 2; do d; done\n"), ["a", "b", "c", "d"]);
    assert.deepEqual(words("( umask 077; a > b )\n"), ["umask|077", "a"]);
  });

  it("have variables, files and functions", () => {
    const { commands, functions } = parseShell(
      "A=1 B='x y' c > d 2>&1\ncall() { curl -s \"$@\"; }\ncall e\n",
    );
    assert.deepEqual(commands, [
      { words: ["c"], assignments: { A: "1", B: "x y" }, written: ["d"] },
      { words: ["call", "e"], assignments: {}, written: [] },
    ]);
    assert.deepEqual([...functions.keys()], ["call"]);
    assert.deepEqual(
      functions.get("call")?.map((command) => command.words),
      [["curl", "-s", "$@"]],
    );
  });

  it("are refused where a quote or a document is open", () => {
    for (const text of ["a 'b\n", 'a "b\n', "a <<END\nb\n", "a $(b\n"])
      assert.throws(() => parseShell(text), Error, text);
  });

  it("ask for what curl would ask for", () => {
    const of = (text: string) => parseCurl(parseShell(`curl ${text}`).commands[0]?.words.slice(1) ?? []);
    assert.deepEqual(of("-si -H 'A: b' $API/x -d '{}'"), {
      ...{ method: "POST", url: "$API/x", body: "{}", headers: ["A: b"] },
    });
    assert.deepEqual(of("-siX PUT --json='1' http://a/"), {
      method: "PUT",
      url: "http://a/",
      body: "1",
      headers: [],
    });
    assert.equal(of("-sXDELETE http://a/").method, "DELETE");
    assert.throws(() => of("-s"), /0 URLs/);
  });
});

describe("docs: what is wrong with a block", () => {
  const shell = (text: string) => new ShellPage(API).problemsOf(blockOf("sh", text));
  const base = "A=http://127.0.0.1:8080/v1\n";

  it("of shell is a program, an option, a file or a target that does not exist", async () => {
    for (const text of [
      "npx gatehouse policy validate --directory policies\n",
      "sudo gatehouse keys create --environment production --scope full_access --name a\n",
      "make test lint\n",
      "cat > policies/own.yaml <<END\nEND\ncp policies/own.yaml policies/default.yaml\n",
      "kubectl rollout status deploy/app\n",
      "curl -s localhost:9090/metrics | grep x\n",
    ])
      assert.deepEqual(await shell(text), [], text);
    for (const [text, problem] of [
      ["npx gatehouse policy validate --directoy policies\n", /unknown option '--directoy'/],
      ["X=$(npx gatehouse keys create --scope full_access --name a)\n", /environment/],
      ["npx gatehouse polcy\n", /unknown command 'polcy'/],
      ["npx other\n", /unknown package other/],
      ["make tests\n", /no target tests/],
      ["frobnicate\n", /unknown program frobnicate/],
      ["cp deploy/nothing.yaml x\n", /no file deploy\/nothing\.yaml/],
      ["kubectl apply -f deploy/nothing.yaml\n", /no file deploy\/nothing\.yaml/],
      ["kubectl exec deploy/app -- gatehouse keys creat\n", /creat/],
      ["GATEHOUSE_GATEWAY_PORT=1 npx gatehouse gateway\n", /no key has the variable GATEHOUSE_GATEWAY_PORT/],
      ["curl localhost:9090/metric\n", /no \/metric/],
    ] as const) {
      const found = await shell(text);
      assert.equal(found.length, 1, text);
      assert.match(found[0] ?? "", problem);
    }
  });

  it("of shell is a request that the API does not take", async () => {
    const call = 'call() { curl -s -H "A: $K" "$@"; }\n';
    for (const text of [
      "$A/things?limit=1",
      '$A/things -d \'{"name":"a"}\'',
      "$A/things/x",
      "-X DELETE $A/things/own",
    ])
      assert.deepEqual(await shell(`${base}${call}call ${text}\n`), [], text);
    for (const [text, problem] of [
      ["$A/thing", /no path/],
      ["$A/things?size=1", /no parameter `size`/],
      ["-X DELETE $A/things", /does not take DELETE/],
      ["$A/things -d '{\"title\":1}'", /additional properties/],
      ["$A/things -d '{'", /not JSON/],
      ["$A/things/own", /does not take GET/],
    ] as const)
      assert.match((await shell(`${base}${call}call ${text}\n`)).join("\n"), problem, text);
  });

  it("of YAML is what its reader says", async () => {
    const problems = (text: string) => yamlProblems(blockOf("yaml", text), []);
    assert.equal(kindOf("policies: { directory: a }\n"), "gateway");
    assert.equal(kindOf("policies:\n  - { resource: GET /a, condition: true }\n"), "policies");
    assert.equal(kindOf("- { resource: GET /a, condition: true }\n"), "policies");
    assert.equal(kindOf("policy_set: a\ntests: []\n"), "suite");
    assert.equal(kindOf("other: 1\n"), undefined);
    for (const text of [
      "- { resource: GET /a, conditon: exists(user.id) }\n",
      "policies:\n  - { resource: GET /a, condition: user.role = 1 }\n",
      "gateway: { listen_prt: 1 }\n",
      "policy_set: a\ntests: [{ name: a, request: GET /a, expect: perhaps }]\n",
      "a: [\n",
      "other: 1\n",
    ])
      assert.notDeepEqual(await problems(text), [], text);
  });

  it("of JSON is what no program writes", async () => {
    for (const text of [
      '{"event":"shadow_decision","difference":"denied","candidate_decision":"DENY"}',
      '{"peer":"a","duration_ms":1,"colour":1}',
      '{"operation":"a","duration_ms":1,"colour":1}',
      '{"ready":true,"checks":{"workers":{"ok":false,"detail":"0 of 2 are ready"}}}',
      '{"a":1}',
      "{",
    ])
      assert.equal((await jsonProblems(blockOf("json", text))).length, 1, text);
  });
});
