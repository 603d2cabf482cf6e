import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../support/database.ts";
import { makeCustomer, type Person } from "../support/guarded-control.ts";
import { runs } from "../support/runs.ts";
import { runSchemathesis } from "./support/schemathesis.ts";
import { startWholeControl, type WholeControl } from "../support/whole-control.ts";
import { seed, type Seeded } from "../control/support/seed.ts";

/** Under `make fuzz`; else one case of each kind, for all take a minute of a core. */
const FULL = runs(1) > 1;
const HOOKS = fileURLToPath(new URL("./support/schemathesis_hooks.py", import.meta.url));

const SETTINGS = `
[generation]
# a header cannot hold them (RFC 9110, section 5.5): Node refuses them before there is a request
exclude-header-characters = "${Array.from({ length: 32 }, (_, code) => `\\u${code.toString(16).padStart(4, "0")}`).join("")}\\u007f"

[checks.negative_data_rejection]
# 412: of an If-Match that is no ETag; 413: of a text that makes the body too large
expected-statuses = [400, 401, 403, 404, 406, 412, 413, 415, 422]
`;

/**
 * All that Schemathesis has, but for
 * - positive_data_acceptance: JSON Schema cannot say which texts PostgreSQL holds, that `from` is before `to`, that a state was
 *   given out, or what an e-mail address or an issuer really is; such requests are refused, and have tests of their own;
 * - use_after_free, ensure_resource_availability, object_level_authorization: follow one resource through several requests,
 *   as hostile-access.test.ts and the tests of each resource do.
 */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
  "ignored_auth",
];

describe("the API under Schemathesis", function () {
  this.timeout(600_000 * runs(1));
  let control: WholeControl;
  let owner: Person;
  let known: string;

  before(async () => {
    control = await startWholeControl();
    owner = await control.owner();
    const key = await control.keyOf();
    const [kept, deletable] = [await seed(control, "Kept", key), await seed(control, "Deletable", key)];
    known = JSON.stringify({
      kept: pathsOf(kept),
      deletable: pathsOf(deletable),
      body: { customer_id: await makeCustomer(control, "Referred") },
    });
  });
  after(() => control.close());

  it("answers what its document says, to a key that may do everything keys may", async () => {
    const { authorization = "" } = await control.keyOf();
    await run(
      { apiKey: { bearer: authorization.replace("Bearer ", "") } },
      // a key has no business there, as the permissions' own tests prove
      ["API keys", "Clients", "Dashboard"].flatMap((tag) => ["--exclude-tag", tag]),
    );
  });

  it("answers what its document says, to an owner", async () => {
    const [, session = ""] = owner.cookie.split("=");
    await run(
      { dashboardSession: { api_key: session }, csrfToken: { api_key: owner.csrf } },
      // logging out would end the session that all the others need
      [
        ...["API keys", "Clients", "Dashboard"].flatMap((tag) => ["--include-tag", tag]),
        ...["--exclude-operation-id", "logOut"],
      ],
    );
  });

  /** @param credentials - by the document's security schemes */
  async function run(
    credentials: Readonly<Record<string, Readonly<Record<string, string>>>>,
    args: readonly string[],
  ): Promise<void> {
    const directory = await temporaryDirectory();
    await writeFile(
      join(directory, "schemathesis.toml"),
      `${SETTINGS}\n${sections("auth.openapi", credentials)}`,
    );
    const { code, output } = await runSchemathesis(
      directory,
      [
        `${control.url}/v1/openapi.json`,
        ...["--checks", CHECKS.join(","), "--phases", "examples,coverage,fuzzing"],
        ...["--max-examples", String(FULL ? runs(2) : 1), "--seed", "1", "--generation-database", "none"],
        ...["--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off"],
        ...args,
      ],
      {
        SCHEMATHESIS_HOOKS: HOOKS,
        GATEHOUSE_KNOWN_IDS: known,
        ...(!FULL && { GATEHOUSE_CASES_OF_A_KIND: "1" }),
      },
    );
    assert.equal(code, 0, output);
  }
});

/** TOML; its strings are those of JSON. */
function sections(
  prefix: string,
  tables: Readonly<Record<string, Readonly<Record<string, string>>>>,
): string {
  return Object.entries(tables)
    .map(([name, values]) =>
      [
        `[${prefix}.${name}]`,
        ...Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
      ].join("\n"),
    )
    .join("\n");
}

/** Parameters by the beginning of the path that they stand in. */
function pathsOf(seeded: Seeded): Record<string, Record<string, string>> {
  return {
    "/customers/": { id: seeded.customer, policy_id: seeded.policy },
    "/users/": { id: seeded.user },
    "/policies/": { id: seeded.policy },
    "/policy-sets/": { name: seeded.policySet, version: "v1" },
    "/sessions/": { id: seeded.session },
    "/webhooks/": { id: seeded.webhook, delivery_id: seeded.delivery },
    "/gateway/policy-sets/": { name: seeded.policySet },
    "/gateway/users/": { key: seeded.user },
  };
}
