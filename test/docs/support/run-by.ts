/** Which tests take which blocks of the pages, besides `blocks.test.ts`. */

/** Of a page, for each test: a part of each block of shell that it runs, which no other block of the page has. */
type Blocks = Readonly<Record<string, readonly string[]>>;

const PROXY_GUIDE: Blocks = {
  "deploy/run/proxy-guides": ["mkdir -p policies", "# 200, from the application"],
};

/** The blocks of shell that tests run. */
export const RUN_BY: Readonly<Record<string, Blocks>> = {
  "README.md": {
    "docs/fresh-clone": [
      "git clone",
      "make run",
      "# 401: no identity",
      "TOKEN=$(npx gatehouse demo token --role manager)\n",
    ],
  },
  "docs/control-plane.md": {
    "docs/commands": [
      ...["npx gatehouse control-plane", "owner-link", "owners reset", "--name setup", "keys roll", "/idp"],
      ...["role_mapping", "introspect", "client_credentials", '"preview"', "call $API/policy-sets"],
    ],
  },
  "docs/deployment/README.md": { "docs/commands": ["--door nginx"] },
  "docs/deployment/authzen.md": {
    "authorizers/authzen/guide": ['"id": "alice"', '"id": "bob"', "can_print"],
  },
  "docs/deployment/aws.md": { "authorizers/aws/guide": ["esbuild", "try.mjs"] },
  "docs/deployment/docker.md": {
    "deploy/run/image": ["cd deploy/docker", "docker compose up", "curl -i http://localhost:8000/health"],
  },
  "docs/deployment/front-proxy.md": {
    "deploy/run/gateway-guides": [
      "npx gatehouse gateway",
      "nginx -t",
      "curl -i https://app.example.com/public ",
    ],
  },
  "docs/deployment/gateway.md": {
    "deploy/run/gateway-guides": [
      ...["mkdir -p policies", "npx gatehouse policy explain", "npx gatehouse gateway", "# 401: no token"],
    ],
  },
  "docs/deployment/gateway-api.md": {
    "deploy/run/gateway-api-guide": [
      ...["helm install", "client-traffic-policy.yaml", "http-route.yaml", "kubectl get gateway public"],
    ],
  },
  "docs/deployment/helm.md": {
    "deploy/run/helm-guide": [
      ...["helm install", "# 200, from the application", "helm upgrade", "keys create"],
    ],
  },
  "docs/deployment/istio.md": {
    "deploy/run/istio-guide": [
      ...["npx gatehouse envoy-config", "http://orders:3000/public", "npx gatehouse doctor"],
      "authorization-policy.yaml",
    ],
  },
  "docs/deployment/systemd.md": {
    "deploy/run/systemd": [
      ...["npm pack", "gatehouse-gateway.service", "# 200, from the application"],
      ...["gatehouse-control-plane.service", "gatehouse keys create"],
    ],
  },
  ...Object.fromEntries(
    ["nginx", "caddy", "haproxy", "traefik", "envoy-http", "envoy-grpc"].map((page) => [
      `docs/deployment/${page}.md`,
      PROXY_GUIDE,
    ]),
  ),
  "docs/doctor.md": { "cli/doctor": ["gatehouse doctor --envoy-admin", "pilot-agent request"] },
  "docs/first-rule.md": {
    "docs/fresh-clone": [
      "npx gatehouse policy explain",
      "--role manager --department finance",
      "/api/customers/c-1 ",
      "npx gatehouse policy validate",
      "# 400: ambiguous path",
    ],
  },
  "docs/fleet.md": { "e2e/control-plane/rollout-guide": ["API=https://gatehouse.example/v1"] },
  "docs/identity.md": { "docs/commands": ['"scope":"caller"'] },
  "docs/operations.md": {
    "docs/operations-commands": [
      ...["gatehouse migrate", "gatehouse backup", "gatehouse restore", "keys rotate-master"],
    ],
  },
  "docs/operations/incidents.md": {
    "operations/incidents": [
      ...[
        "GATEWAY=http://127.0.0.1:9090",
        "curl -s $GATEWAY/readyz ",
        "policy validate --config gateway.yaml\n",
      ],
      ...["# file, line, column", "# a set that the control plane publishes", "'^gatehouse_decisions_total'"],
      ...["--scope gateway --name gateway", "gatehouse_(database_pool_exhausted", "$API/v1/gateways"],
      ...["$API/v1/webhooks", "gatehouse keys list", "rotate-master", "df -h .", "date -u"],
    ],
  },
  "docs/policies.md": { "docs/commands": ["policy coverage", "policy explain"] },
  "docs/policy-diff.md": { "docs/commands": ["policy diff"] },
  "docs/recipes/README.md": { "docs/recipes": ["npx gatehouse policy validate"] },
  "docs/recipes/gradual-rollout.md": { "docs/recipes": ["npx gatehouse policy test"] },
  "docs/replay.md": {
    "docs/commands": ["--rotated"],
    "e2e/control-plane/production": ["--api-key-file read.key"],
  },
  "docs/rollout.md": {
    "e2e/policies/rollout-guide": [
      ...["cp -r policies candidate", '"shadow_decision"', 'select(.rollout_arm == "candidate"'],
      "cp candidate/default.yaml",
    ],
    "e2e/control-plane/rollout-guide": [
      ...[
        "--name rollouts",
        '"name":"default","files"',
        '"activate":false',
        '"mode":"enforce","percentage":1',
      ],
      ...["/rollout/promote", "/rollback"],
    ],
  },
  "docs/tutorial.md": {
    "docs/tutorial": [
      ...[
        "make run",
        "mkdir -p",
        "node tutorial/app.mjs",
        "npx gatehouse policy validate",
        "npx gatehouse gateway",
        "TOKEN=$(",
      ],
      ...[
        'curl -s http://127.0.0.1:3001/customers/c-1/invoices/i-1 -H "Authorization: Bearer $TOKEN"',
        "# 401: no token",
      ],
      ...[
        "FINANCE=$(",
        "policy explain --config tutorial/gateway.yaml \\\n",
        "tutorial/audit.log\n",
        "--request-id",
        "npx gatehouse policy test",
        "# 403: no rule",
      ],
      ...["curl -s -X PUT", "rm -r tutorial"],
    ],
  },
  "docs/webhooks.md": { "docs/commands": ["hooks.example.com", "/v1/events"] },
};

const UNPUBLISHED = "installs a package that is not published yet; test/clients installs it from here";
const OF_A_MACHINE = "installs into a machine; docs/deployment has the same steps, which are run";

/** The blocks that no test runs, in the order of their pages, and why; their form is checked all the same. */
export const NOT_RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "clients/node/README.md": { "npm install gatehouse-access": UNPUBLISHED },
  "clients/python/README.md": { "pip install gatehouse-access": UNPUBLISHED },
  "deploy/authzen/README.md": {
    "git clone":
      "needs a checkout of another project; test/deploy/authzen.test.ts runs the program on its files",
  },
  "deploy/caddy/README.md": { "npx gatehouse gateway": OF_A_MACHINE },
  "deploy/docker/README.md": {
    "docker build": "needs Docker; test/deploy/run/image.test.ts does what the Dockerfile says without",
  },
  "deploy/haproxy/README.md": { "npx gatehouse gateway": OF_A_MACHINE },
  "deploy/nginx/README.md": { "npx gatehouse gateway": OF_A_MACHINE },
  "deploy/systemd/README.md": { "npm pack": OF_A_MACHINE },
};

/** Blocks that another test runs, compiles or compares, more closely than this one could. */
export const CHECKED_BY: readonly {
  readonly page: string;
  readonly language: string;
  /** What the block has; without it, all blocks of the language. */
  readonly part?: string;
  readonly test: string;
}[] = [
  { page: "docs/control-plane.md", language: "http", test: "docs/commands" },
  { page: "docs/webhooks.md", language: "http", test: "docs/commands" },
  {
    page: "docs/deployment/authzen.md",
    language: "yaml",
    part: "# staff.yaml",
    test: "authorizers/authzen/guide",
  },
  { page: "docs/deployment/authzen.md", language: "json", test: "authorizers/authzen/guide" },
  { page: "docs/deployment/aws.md", language: "json", test: "authorizers/aws/guide" },
  { page: "docs/deployment/helm.md", language: "yaml", test: "deploy/run/helm-guide" },
  {
    page: "docs/deployment/traefik.md",
    language: "yaml",
    part: "forwardAuth",
    test: "deploy/run/proxy-guides",
  },
  { page: "docs/deployment/caddy.md", language: "caddyfile", test: "deploy/run/proxy-guides" },
  { page: "docs/deployment/envoy-grpc.md", language: "envoy", test: "deploy/run/proxy-guides" },
  { page: "docs/deployment/envoy-http.md", language: "envoy", test: "deploy/run/proxy-guides" },
  { page: "docs/deployment/haproxy.md", language: "haproxy", test: "deploy/run/proxy-guides" },
  { page: "docs/deployment/haproxy.md", language: "spoe", test: "deploy/run/proxy-guides" },
  { page: "docs/deployment/nginx.md", language: "nginx", test: "deploy/run/proxy-guides" },
  { page: "docs/operations/monitoring.md", language: "yaml", test: "operations/monitoring" },
  { page: "docs/recipes/break-glass.md", language: "json", test: "docs/recipes" },
];
