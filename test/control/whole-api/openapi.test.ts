import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ERROR_CODES } from "../../../src/control/platform/errors.ts";
import { ENVIRONMENTS } from "../../../src/control/platform/environment.ts";
import { temporaryDirectory } from "../../support/database.ts";
import { makePerson, PASSWORD, send, type Person } from "../../support/guarded-control.ts";
import { startWholeControl, type WholeControl } from "../../support/whole-control.ts";

const REDOCLY = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
const CONFIG = fileURLToPath(new URL("../../support/redocly.yaml", import.meta.url));

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly security: readonly Json[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly headers?: Json }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Json>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

for (const environment of ENVIRONMENTS) {
  describe(`the OpenAPI document of the ${environment}`, () => {
    let control: WholeControl;
    let owner: Person;
    let document: Document;
    let operations: readonly (readonly [string, Operation])[];

    before(async () => {
      control = await startWholeControl({ settings: { environment } });
      owner = await control.owner();
      document = (await (await fetch(`${control.url}/v1/openapi.json`)).json()) as Document;
      operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
      );
    });
    after(() => control.close());

    it("passes a linter, without a warning", async () => {
      const file = join(await temporaryDirectory(), "openapi.json");
      await writeFile(file, JSON.stringify(document));
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [REDOCLY, "lint", "--config", CONFIG, "--format", "json", file],
        { env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } },
      );
      const { totals, problems } = JSON.parse(stdout) as { totals: Json; problems: unknown };
      assert.deepEqual(
        { problems, totals },
        { problems: [], totals: { errors: 0, warnings: 0, ignored: 0 } },
      );
    });

    it("holds every route, and nothing else", () => {
      assert.deepEqual(
        operations.map(([name]) => name).sort(),
        control.routes.map(({ method, path }) => `${method} ${path}`).sort(),
      );
      assert.equal(new Set(operations.map(([, { operationId }]) => operationId)).size, operations.length);
    });

    it("says of every tag what it is about", () => {
      for (const { name, description } of document.tags)
        assert.match(description ?? "", /^\S.*\.$/, `TAGS in frame/openapi.ts: ${name}`);
    });

    it("names the cookie of sessions as it is set", () => {
      const { dashboardSession } = document.components.securitySchemes;
      assert.equal(dashboardSession?.["name"], owner.cookie.split("=")[0]);
    });

    it("declares the headers that a browser acts on: cookies, and the name of what is saved", async () => {
      const person = await makePerson(control, owner, "owner");
      const call = async (method: string, path: string, body?: object) => {
        const answer = await send(control, method, path, person.headers, body);
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
        return answer;
      };
      const { id } = (await call("POST", "/customers", { name: "Acme" })).body.data as { id: string };
      const user = (await call("POST", `/customers/${id}/users`, { subject: "ada" })).body.data as {
        id: string;
      };
      const saved = await call("GET", `/users/${user.id}/export`);
      assert.match(saved.headers.get("content-disposition") ?? "", /^attachment; filename=/);
      const passwords = { current_password: PASSWORD, new_password: `${PASSWORD} & Dunst` };
      const changed = await call("PUT", "/dashboard/password", passwords);
      const left = await call("POST", "/dashboard/logout", {});
      for (const { headers } of [changed, left]) assert.equal(headers.getSetCookie().length, 1);
      control.requireDeclaredHeaders();
    });

    it("asks of every route but public ones for a key or a session", () => {
      for (const route of control.routes) {
        const { security } = document.paths[route.path]![route.method]!;
        assert.equal(security.length === 0, route.permission === "public", route.path);
      }
    });

    it("gives every operation an answer of success, and the statuses of all codes it can answer", () => {
      for (const route of control.routes) {
        const { responses } = document.paths[route.path]![route.method]!;
        const told = Object.values(responses)
          .map(({ description }) => description)
          .join();
        const wanted = [
          ...["INVALID_PARAMETER", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", ...(route.errors ?? [])],
          ...(route.permission === "public" ? [] : ["UNAUTHORIZED", "INSUFFICIENT_SCOPE"]),
          ...(route.body === undefined ? [] : ["MALFORMED_JSON", "VALIDATION_FAILED"]),
        ];
        for (const code of wanted) assert.ok(told.includes(`\`${code}\``), `${route.path}: ${code}`);
        assert.ok(
          Object.keys(responses).some((status) => /^(2\d\d|303)$/.test(status)),
          route.path,
        );
      }
    });

    it("lists all codes there are, and the three headers of limits on every answer", () => {
      const { enum: codes } = at(document, "components schemas Error properties error properties code");
      assert.deepEqual(codes, Object.keys(ERROR_CODES));
      for (const [name, { responses }] of operations)
        for (const { headers = {} } of Object.values(responses))
          for (const header of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"])
            assert.ok(header in headers, name);
    });

    it("names every body and every answer, so that generated clients have a type for each", () => {
      const unnamed = operations.flatMap(([name, operation]) => {
        const { requestBody } = operation as unknown as { requestBody?: Json };
        const places = [requestBody, ...Object.values(operation.responses)];
        return places.flatMap((place) =>
          Object.entries((place as { content?: Record<string, { schema: Json }> } | undefined)?.content ?? {})
            .filter(([type, { schema }]) => type.includes("json") && typeof schema["$ref"] !== "string")
            .map(([type]) => `${name}: ${type}`),
        );
      });
      assert.deepEqual(unnamed, []);
      for (const name of [
        "Customer",
        "Policy",
        "User",
        "Session",
        "Webhook",
        "ApiKey",
        "Error",
        "CustomerPage",
      ])
        assert.ok(name in document.components.schemas, name);
    });

    it("has one name per thing: verbs of operations, and headers that only some answers have", () => {
      const verbs = operations.map(([name, { operationId }]) => `${name.split(" ")[0]} ${operationId}`);
      assert.deepEqual(
        verbs.filter((verb) => / (read|fetch|retrieve|modify)/.test(verb)),
        [],
      );
      const { responses } = document.paths["/audit/logs"]!["get"]!;
      assert.deepEqual(
        ["X-Next-Cursor", "X-Total-Exact"].filter((header) => !(header in responses["200"]!.headers!)),
        [],
      );
    });

    it("declares If-Match where an ETag is compared, and nowhere else", () => {
      const declared = operations
        .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === "If-Match"))
        .map(([name]) => name);
      for (const name of [
        "post /customers/{id}/idp",
        "post /policy-sets/{name}/rollback",
        "patch /users/{id}",
      ])
        assert.ok(declared.includes(name), name);
      assert.deepEqual(
        declared.filter((name) => name.startsWith("get ")),
        [],
      );
    });

    it("leaves no schema open that is not meant to be", () => {
      const open: string[] = [];
      find(document.paths, [], open);
      find(document.components.schemas, [], open);
      assert.deepEqual([...new Set(open)].sort(), [...MEANT].sort());
    });
  });
}

/** Members that may be anything, and why; by the last names of the place where they stand. */
const MEANT = [
  // what a policy's conditions are is told by its type, which the answer names too
  "conditions/additionalProperties",
  // what is no record is rejected by itself
  "records/items",
  // names to values that the customer, the provider or the administrator chose
  "metadata/additionalProperties",
  "profile/additionalProperties",
  "attributes/additionalProperties",
  "effective_attributes/additionalProperties",
  // the same of a user whose tokens are answered, or whom a gateway looks up; some members always stand there
  "SignedInUser/additionalProperties",
  "GatewayUser/additionalProperties",
  "properties/role",
  "properties/department",
  "properties/permissions",
  // a decision, an outcome, a difference in shadow and a change of a rollout, which gateways write with more members than the trail filters by
  "DecisionRecord/additionalProperties",
  "OutcomeRecord/additionalProperties",
  "ShadowRecord/additionalProperties",
  "RolloutRecord/additionalProperties",
  // claims of a user's identity provider, or null
  "0/additionalProperties",
  // a PATCH is checked when it has been merged
  "role_mapping/additionalProperties",
  // a change is of any resource
  "before/additionalProperties",
  "after/additionalProperties",
  // what a type of event tells is a table of docs/webhooks.md
  "data/additionalProperties",
];

/** Finds schemas that say nothing: `{}`, or nothing but a description. */
function find(value: unknown, path: readonly string[], open: string[]): void {
  if (typeof value !== "object" || value === null) return;
  const names = Object.keys(value).filter((name) => name !== "description");
  if (isSchemaPlace(path) && names.length === 0) open.push(path.slice(-2).join("/"));
  for (const [name, member] of Object.entries(value)) find(member, [...path, name], open);
}

function isSchemaPlace(path: readonly string[]): boolean {
  const [above, last] = path.slice(-2);
  return above === "properties" || last === "schema" || last === "items" || last === "additionalProperties";
}

function at(value: unknown, path: string): Json {
  return path.split(" ").reduce((found, name) => found[name] as Json, value as Json);
}
