import assert from "node:assert/strict";
import { dump, load } from "js-yaml";
import { POLICIES_PAGE as PAGE, quoted, rowsOf } from "./page-tables.ts";
import { folderOf, keptCommandLine } from "./support.ts";

/** Every example of a table is a rule, a test, or both. */
describe("docs/policies.md: the examples in its tables", () => {
  const kept = keptCommandLine();
  after(kept.close);

  const gatehouse = async (args: readonly string[], files: Readonly<Record<string, string>>) => {
    const folder = await folderOf(files);
    const { code, stdout, stderr } = await kept.gatehouse(args, { cwd: folder.path });
    await folder.remove();
    assert.deepEqual([code, stderr], [0, ""], stdout);
    return stdout;
  };
  const passed = async (set: object, tests: readonly object[]) => {
    const stdout = await gatehouse(["policy", "test"], {
      "policies/default.yaml": dump(set),
      "policies/default.test.yaml": dump({ policy_set: "default", tests }),
    });
    assert.match(stdout, new RegExp(`^default\\.test\\.yaml: ${tests.length} passed, 0 failed$`, "m"));
  };

  it("sections: each entry compiles in its section", async () => {
    const rows = rowsOf("section", "decides", "one entry of it");
    const parts = rows.map(([section = "", , entry]) => {
      const [name = ""] = quoted(section);
      const [text = ""] = quoted(entry);
      return `${name}:\n  ${text.startsWith("{") ? `- ${text}` : text}\n`;
    });
    assert.equal(parts.length, 9);
    await gatehouse(["policy", "validate"], { "policies/default.yaml": parts.join("") });
  });

  it("resources: each pattern matches what it says, and nothing else of it", async () => {
    for (const [pattern, yes, no] of rowsOf("pattern", "matches", "does not match")) {
      const [resource = ""] = quoted(pattern);
      const set = resource.startsWith("/")
        ? { web_policies: [{ path: resource, condition: "true" }] }
        : { policies: [{ resource, condition: "true" }] };
      const matching = quoted(yes).map((request) => ({
        name: request,
        request,
        user: "none",
        expect: "allow",
      }));
      const others = quoted(no).map((request) => ({
        ...{ name: request, request, user: "none" },
        ...{ expect: "deny", reason: "NO_MATCHING_RULE" },
      }));
      assert.ok(matching.length > 0 && others.length > 0, resource);
      await passed(set, [...matching, ...others]);
    }
  });

  it("operators: each condition is true, false and unknown for what it says", async () => {
    const rows = rowsOf("operator", "example", "true for", "false for", "unknown for");
    const policies: object[] = [];
    const tests: object[] = [];
    for (const [index, [, example, ...verdicts]] of rows.entries()) {
      const [condition = ""] = quoted(example);
      policies.push({ resource: `GET /${index}`, condition });
      for (const [verdict, reason] of ["CONDITION_TRUE", "CONDITION_FALSE", "CONDITION_UNKNOWN"].entries())
        for (const user of quoted(verdicts[verdict]))
          tests.push({
            name: `${condition} for ${user}`,
            request: `GET /${index}`,
            user: JSON.parse(user) as object,
            expect: verdict === 0 ? "allow" : "deny",
            reason,
          });
    }
    assert.ok(tests.length > 2 * rows.length);
    await passed({ policies }, tests);
  });

  it("roots: the set with all of them reads each, and every member of `request` and `env`", () => {
    const set = /^```yaml\npolicy_set: roots\n(attributes:.*?)^```$/ms.exec(PAGE)?.[1] ?? "";
    const read = new Set(
      [...set.matchAll(/\b([a-z]+)\.([a-z_]+)/g)].flatMap(([path, root = ""]) => [root, path]),
    );
    for (const [cell, members = ""] of rowsOf("root", "members")) {
      const roots = quoted(cell);
      for (const root of roots.length > 0 ? roots : ["account"]) assert.ok(read.has(root), root);
      const [root = ""] = roots;
      if (root !== "request" && root !== "env") continue;
      const sentence = root === "request" ? (members.split(". ")[0] ?? "") : members;
      const names = quoted(sentence).flatMap((text) => /^[a-z_]+/.exec(text)?.[0] ?? []);
      const missing = names.filter(
        (name) => !["monday", root].includes(name) && !read.has(`${root}.${name}`),
      );
      assert.deepEqual(missing, []);
    }
  });

  it("actions: each changes a value as it says", async () => {
    const samples = ['{"n":"900-41-6789"}', '{"n":42}'];
    const rows = rowsOf("action", "any JSON value becomes", ...samples.map((sample) => `\`${sample}\``));
    assert.equal(rows.length, 6);
    for (const [action, , ...becomes] of rows) {
      const [words = ""] = quoted(action);
      const set = words.startsWith("action:")
        ? `response_filters: [{ endpoint: /a, filter_rules: [{ field: n, condition: true, ${words} }] }]\n`
        : `response_masks: [{ api_pattern: /a, fields: [{ name: n, condition: true, ${words} }] }]\n`;
      const tests = becomes.map((cell, index) => ({
        name: `${words} ${index}`,
        ...{ request: "GET /a", user: "none", expect: "allow" },
        response: { body: JSON.parse(samples[index] ?? "") as object },
        expect_body: JSON.parse(quoted(cell)[0] ?? "") as object,
      }));
      assert.equal(tests.length, 2);
      await gatehouse(["policy", "test"], {
        "policies/default.yaml": `policies: [{ resource: GET /a, condition: true }]\n${set}`,
        "policies/default.test.yaml": dump({ policy_set: "default", tests }),
      });
    }
  });

  it("fields: each finds the members that it says", async () => {
    const [head = ""] = /^\| field \| of `.+` \|$/m.exec(PAGE) ?? [];
    const [document = ""] = quoted(head);
    for (const [field, members] of rowsOf("field", `of \`${document}\``)) {
      const [name = ""] = quoted(field);
      const set = {
        policies: [{ resource: "GET /a", condition: "true" }],
        response_masks: [{ api_pattern: "/a", fields: [{ name, condition: "true", mask_type: "full" }] }],
      };
      await passed(set, [
        {
          name,
          ...{ request: "GET /a", user: "none", expect: "allow" },
          response: { body: JSON.parse(document) as object },
          masked: quoted(members),
        },
      ]);
    }
  });

  it("what is protected: a rule that compares so gives no warning, and one that does not gives one", async () => {
    const [own, staff, assigned, ...more] = rowsOf("what is protected", "compare");
    assert.deepEqual(more, []);
    const [compared = "", ...instead] = quoted(own?.[1]);
    assert.deepEqual(instead, ["args", "message", "path", "request.body", "request.query"]);
    const by = (root: string) => compared.replace("path", root);
    const setOf = (also: (compare: string) => string) => {
      const condition = (compare = "") => `user.role == "admin"${also(compare)}`;
      return {
        policies: [
          { resource: "GET /a/{customer_id}", condition: condition(compared) },
          { resource: "POST /a", condition: condition(by("request.body")) },
          { resource: "GET /a", condition: condition(by("request.query")) },
          { resource: "GET /staff", condition: condition(quoted(staff?.[1])[0]) },
          { resource: "GET /b/{customer_id}", condition: condition(quoted(assigned?.[1])[0]) },
        ],
        graphql_policies: [{ query: "customer", condition: condition(by("args")) }],
        websocket_policies: [
          {
            connection: { path: "/ws", condition: "exists(user.id)" },
            message_types: [{ type: "say", condition: condition(by("message")) }],
          },
        ],
      };
    };
    const warnings = async (set: object) => {
      const stdout = await gatehouse(["policy", "validate", "--config", "gateway.yaml"], {
        "policies/default.yaml": dump(set),
        "gateway.yaml": dump({
          identity: { issuer: "https://login.test", audience: "app" },
          control_plane: { url: "https://control.test", api_key: "key" },
          policies: { directory: "policies" },
        }),
      });
      return stdout.split("role-without-customer").length - 1;
    };
    assert.equal(await warnings(setOf((compare) => ` and ${compare}`)), 0);
    assert.equal(await warnings(setOf(() => "")), 7);
  });

  it("statuses: what is withheld has the status that it says", async () => {
    const rows = rowsOf("the application's status", "the client receives");
    assert.deepEqual(
      rows.map(([statuses]) => statuses),
      ["2xx", "3xx, 4xx, 5xx"],
    );
    for (const [statuses = "", receives = ""] of rows)
      for (const [, kind = ""] of statuses.matchAll(/(\d)xx/g))
        for (const status of [`${kind}00`, `${kind}03`]) {
          const args = ["policy", "explain", "--request", "GET /a", "--response", "broken.json"];
          const stdout = await gatehouse([...args, "--response-status", status], {
            "policies/default.yaml": `policies: [{ resource: GET /a, condition: "true" }]
response_masks: [{ api_pattern: /a, fields: [{ name: n, condition: "true", mask_type: full }] }]\n`,
            "broken.json": '{"n":',
          });
          const expected = receives.startsWith("the same status") ? status : receives;
          assert.match(stdout, new RegExp(`^the response is withheld \\(${expected}\\)`, "m"), status);
        }
  });

  it("types: each is let through by `other_types: pass`, and no other", async () => {
    const [, table = ""] = PAGE.split("\nA type passes if it is declared once");
    const [data, markup] = ["data", "markup"].map((kind) =>
      quoted(new RegExp(`^\\| ${kind} \\| (.+) \\|$`, "m").exec(table)?.[1]),
    );
    assert.ok(data && data.length > 15 && markup && markup.length > 4);
    const typeOf = (written: string) =>
      (written.includes("/") ? written : `application/${written}`).replace("*", "x");
    const answered = (type: string, body: string) => ({
      name: type,
      ...{ request: "GET /a", user: "none", expect: "allow" },
      response: { body, headers: { "content-type": type } },
    });
    const text = "a,b";
    const page = "<p>a</p>";
    const set = {
      policies: [{ resource: "GET /a", condition: "true" }],
      response_masks: [
        {
          ...{ api_pattern: "/a", other_types: "pass" },
          fields: [{ name: "n", condition: "true", mask_type: "full" }],
        },
      ],
    };
    const others = [
      "text/plain",
      "application/octet-stream",
      "application/gzip",
      "multipart/mixed",
      "model/x",
    ];
    await passed(set, [
      ...data.map((type) => ({ ...answered(typeOf(type), text), expect_body: text })),
      ...markup.map((type) => ({ ...answered(typeOf(type), page), expect_body: page })),
      ...others.map((type) => ({ ...answered(type, text), expect_refused: true })),
    ]);
  });

  it("keys of tests: each means what it says", async () => {
    const [, section = ""] = PAGE.split("\n## Tests\n");
    const rows = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (.+) \|$/gm)].map(
      ([, keys = "", meaning = ""]) => [quoted(keys).join(), quoted(meaning)] as const,
    );
    const meaning = new Map(rows);
    assert.deepEqual([...meaning.keys()], ["user", "customer", "attributes", "env", "reason,rule"]);
    const [attributes = "", unavailable = ""] = meaning.get("attributes") ?? [];
    const [env = ""] = meaning.get("env") ?? [];
    const [none = ""] = meaning.get("customer") ?? [];
    const at = (name: string, path: string, test: object) => ({ name, request: `GET ${path}`, ...test });
    const people = { ada: { id: "ada", customer_id: "c-1" } };
    const tests = [
      at("by name", "/user", { user: "ada", expect: "allow" }),
      at("by attributes", "/user", { user: { id: "ada" }, expect: "allow" }),
      at("nobody", "/user", { user: none, expect: "deny", reason: "IDENTITY_REQUIRED" }),
      at("the user's customer", "/customer", { user: "ada", expect: "allow" }),
      at("another customer", "/customer", { user: "ada", customer: { id: "c-2" }, expect: "deny" }),
      at("no customer", "/customer", {
        user: "ada",
        customer: none,
        expect: "deny",
        reason: "CONDITION_UNKNOWN",
      }),
      at("a source", "/source", { user: "ada", attributes: load(attributes), expect: "allow" }),
      at("a source that fails", "/source", {
        user: "ada",
        attributes: { target_user: unavailable },
        expect: "deny",
        reason: "CONDITION_UNKNOWN",
      }),
      at("a time", "/env", { user: "ada", env: load(env), expect: "allow", rule: "night shift" }),
      at("a time, by id", "/env", { user: "ada", env: load(env), expect: "allow", rule: "policies[3]" }),
    ];
    const stdout = await gatehouse(["policy", "test"], {
      "policies/default.yaml": dump({
        attributes: { target_user: { source: "users", key: "user.id", types: { department: "string" } } },
        policies: [
          { resource: "GET /user", condition: 'user.id == "ada"' },
          { resource: "GET /customer", condition: 'customer.id == "c-1"' },
          { resource: "GET /source", condition: 'target_user.department == "sales"' },
          {
            ...{ name: "night shift", resource: "GET /env" },
            condition: 'env.time == "2026-01-31T12:00:00Z" and env.environment == "production"',
          },
        ],
      }),
      "policies/default.test.yaml": dump({ policy_set: "default", people, tests }),
    });
    assert.match(stdout, new RegExp(`^default\\.test\\.yaml: ${tests.length} passed, 0 failed$`, "m"));
  });
});
