import { readdirSync } from "node:fs";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import redos from "eslint-plugin-redos";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** The ground floor: every room may import these, and they import nothing of the project. */
const ground = ["json", "text"];

/** Which room may import which besides; the reasons stand in src/README.md. */
const rooms = {
  names: [],
  // what two programs say to each other, each of which imports it
  protocol: ["reasons"],
  pages: [],
  runtime: [],
  policy: ["names"],
  request: ["names"],
  graphql: ["names", "policy", "request"],
  telemetry: ["runtime"],
  demo: [],
  config: ["policy", "request", "identity", "audit", "pages", "runtime", "setting-types"],
  identity: ["names", "policy", "reasons", "telemetry", "runtime"],
  audit: ["policy", "reasons", "telemetry", "protocol", "runtime", "startup", "setting-types"],
  decision: [
    "names",
    "policy",
    "request",
    "graphql",
    "identity",
    "audit",
    "protocol",
    "envoy-contract",
    "customer-state",
    "reasons",
    "refusal-reasons",
    "telemetry",
    "pages",
    "runtime",
  ],
  extauthz: [
    "decision",
    "policy",
    "request",
    "graphql",
    "identity",
    "audit",
    "protocol",
    "envoy-contract",
    "reasons",
    "telemetry",
    "runtime",
  ],
  authorizers: ["decision", "request", "reasons", "telemetry", "runtime"],
  gateway: ["config", "policy", "identity", "telemetry", "pages", "envoy-contract", "runtime"],
  "customer-state": [],
  startup: ["runtime"],
  storage: ["runtime"],
  sync: [
    "protocol",
    "customer-state",
    "policy",
    "decision",
    "identity",
    "audit",
    "reasons",
    "telemetry",
    "runtime",
  ],
  // what it finds out about other rooms is gathered by the command
  doctor: ["config", "envoy-contract"],
  control: [
    "protocol",
    "customer-state",
    "storage",
    "policy",
    "decision",
    "reasons",
    "refusal-reasons",
    "telemetry",
    "audit",
    "identity",
    "runtime",
  ],
};

/** Rooms whose code does not read requests to the gateway. */
const offRequestPath = [
  "protocol",
  "runtime",
  "policy",
  "demo",
  "config",
  "gateway",
  "customer-state",
  "startup",
  "storage",
  "sync",
  "control",
];

/** Rooms that put the others together, and may import all of them. */
const composing = ["cli", "processes"];

const listed = [...ground, ...Object.keys(rooms), ...composing];
for (const entry of readdirSync(`${import.meta.dirname}/src`, { withFileTypes: true }))
  if (entry.isDirectory() && !listed.includes(entry.name))
    throw new Error(
      `src/${entry.name} is a new room: add it to "rooms" in eslint.config.js and to the table in src/README.md`,
    );

/** The same within src/decision; the reasons are in its README. */
const decisionRooms = {
  headers: [],
  denial: [],
  policies: ["headers"],
  attributes: ["policies"],
  decide: ["headers", "policies", "attributes", "types", "promise-or-value"],
  rollout: ["policies", "types"],
  shadow: ["policies", "decide", "types"],
  explain: ["headers", "policies", "attributes", "decide", "types", "promise-or-value"],
  inputs: ["policies", "decide", "types"],
  replay: ["policies", "attributes", "decide", "inputs", "types"],
  connections: ["policies", "decide", "types", "promise-or-value"],
  point: [
    "headers",
    "denial",
    "policies",
    "decide",
    "explain",
    "inputs",
    "connections",
    "types",
    "promise-or-value",
  ],
};

/** The same within src/control; the reasons are in its README. Files beside these folders compose them. */
const controlRooms = {
  platform: [],
  tenancy: ["platform"],
  resources: ["platform", "tenancy"],
  analytics: ["platform"],
  "sign-in": ["platform", "tenancy", "resources"],
  gateway: ["platform", "tenancy", "resources"],
  export: ["platform", "resources", "analytics"],
  encryption: ["platform"],
  dashboard: ["platform"],
  sandbox: ["platform", "tenancy", "resources", "sign-in", "analytics", "unit-writers"],
};

/** The same one level below. What ends with a customer or a user is imported by them, and never the other way about. */
const resourceRooms = {
  "api-keys": [],
  clients: [],
  erasure: [],
  gateways: [],
  policies: [],
  "policy-sets": [],
  sessions: [],
  webhooks: [],
  "dashboard-users": ["erasure"],
  users: ["erasure", "sessions"],
  customers: ["api-keys", "clients", "erasure", "policies", "sessions", "users", "webhooks"],
};
const signInRooms = { issuer: [] };
const analyticsRooms = { rollups: [], records: ["rollups"], audit: ["rollups", "records"] };
const policyRooms = {
  diagnostics: ["diagnostic"],
  syntax: ["diagnostics", "diagnostic"],
  pattern: ["ir"],
  condition: ["ir", "value", "roots"],
  mask: ["condition", "plan", "value"],
  message: ["condition", "mask", "plan", "value"],
  match: ["condition", "ir", "value"],
  analyze: ["compile", "condition", "match", "pattern", "ir", "value"],
};

/** @param where - what has the reasons */
function zonesOf(folder, rooms, where = `${folder}/README.md`) {
  return Object.entries(rooms).map(([room, allowed]) => ({
    target: `./${folder}/${room}`,
    from: `./${folder}`,
    except: [room, ...allowed].flatMap((name) => [`./${name}`, `./${name}.ts`]),
    message: `${folder}/${room} may import only: ${[room, ...allowed].join(", ")} (see ${where})`,
  }));
}

const onGround = Object.entries(rooms).map(([room, allowed]) => [room, [...ground, ...allowed]]);
const zones = [
  ...zonesOf("src", {
    ...Object.fromEntries(ground.map((room) => [room, []])),
    ...Object.fromEntries(onGround),
  }),
  ...zonesOf("src/decision", decisionRooms),
  ...zonesOf("src/control", controlRooms),
  ...zonesOf("src/control/resources", resourceRooms, "src/control/README.md"),
  ...zonesOf("src/control/sign-in", signInRooms, "src/control/README.md"),
  ...zonesOf("src/control/analytics", analyticsRooms, "src/control/README.md"),
  ...zonesOf("src/policy", policyRooms),
];

export default defineConfig(
  {
    ignores: [
      "dist/",
      "site/",
      "coverage/",
      "node_modules/",
      ".gatehouse/",
      "dashboard/dist/",
      "dashboard/screenshots/",
      "dashboard/src/api/schema.d.ts",
      "clients/node/src/api.ts",
      "clients/node/src/testing/fake-data.ts",
      "clients/node/dist/",
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: [
            "eslint.config.js",
            ".remarkrc.js",
            "bin/*.js",
            "deploy/istio/*.mjs",
            "clients/cases/*.mjs",
            "test/decision/shadow/threads/*.mjs",
          ],
        },
      },
    },
    plugins: { "import-x": importX },
    settings: {
      "import-x/extensions": [".ts", ".js"],
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".js"] })],
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      // to leave members out is to name them
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/dot-notation": "off",
      // a quarter of the time of all rules, for what TypeScript finds by itself: classes here have #private fields, and so types
      // of their own, and erasableSyntaxOnly allows no enums
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "no-restricted-properties": [
        "error",
        {
          object: "process",
          property: "env",
          message: "one file reads the environment: src/config/environment.ts",
        },
      ],
      eqeqeq: "error",
      "max-lines": ["error", { max: 350, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ["src/**"],
    rules: {
      "import-x/no-cycle": "error",
      "import-x/no-restricted-paths": ["error", { basePath: import.meta.dirname, zones }],
    },
  },
  {
    files: ["src/**"],
    ignores: ["src/runtime/**", "src/demo/**"],
    rules: {
      "no-restricted-globals": [
        "error",
        {
          name: "setInterval",
          message: "src/runtime/every.ts: work on an interval never overlaps with itself",
        },
      ],
    },
  },
  {
    // a regular expression that is not linear lets one request block a process for seconds
    files: [...ground, ...Object.keys(rooms)]
      .filter((room) => !offRequestPath.includes(room))
      .map((room) => `src/${room}/**`),
    plugins: { redos },
    rules: {
      "redos/no-vulnerable": ["error", { ignoreErrors: false, timeout: 60_000 }],
      "no-restricted-syntax": [
        "error",
        {
          selector: ":matches(NewExpression, CallExpression)[callee.name='RegExp']",
          message: "only an expression literal can be proven linear",
        },
      ],
    },
  },
  {
    // whoever sends a request may lose the right to it before the commit (decision 46); these files act for the service itself,
    // or for a browser without credentials
    files: ["src/control/**"],
    ignores: [
      "src/control/platform/frame/units-of-caller.ts",
      "src/control/encryption/rotate.ts",
      "src/control/resources/erasure/jobs.ts",
      "src/control/resources/gateways/watch.ts",
      "src/control/resources/policies/bulk/jobs.ts",
      "src/control/resources/policy-sets/publish-folder.ts",
      "src/control/resources/policy-sets/rollout-watch.ts",
      "src/control/resources/sessions/limit.ts",
      "src/control/resources/sessions/run-endings.ts",
      "src/control/resources/webhooks/record-attempt.ts",
      "src/control/sandbox/reset.ts",
      "src/control/sign-in/issuer/keyring.ts",
      "src/control/sign-in/oauth/end-session.ts",
    ],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "CallExpression:matches([callee.name='units'], [callee.property.name='units'])",
          message:
            "open units for a caller with unitsOfCaller (src/control/platform/frame/units-of-caller.ts)",
        },
      ],
    },
  },
  // plain JavaScript: there are no types to check by
  { files: ["**/*.js", "deploy/**/*.mjs", "clients/**/*.mjs"], ...tseslint.configs.disableTypeChecked },
  // the second asks who has started it, before anything else is loaded
  { files: ["src/config/environment.ts", "bin/gatehouse.js"], rules: { "no-restricted-properties": "off" } },
  {
    files: ["test/**", "bench/**", "release/**"],
    rules: { "no-restricted-properties": "off", "@typescript-eslint/no-non-null-assertion": "off" },
  },
  {
    // what an answer of the API holds is what these tests find out, and what Envoy's configuration holds is what they change
    files: [
      "test/doctor/**",
      "test/cli/doctor.test.ts",
      "test/control/**",
      "test/protocol/**",
      "test/e2e/**",
      "test/support/**",
      "test/dashboard/**",
    ],
    rules: {
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
);
