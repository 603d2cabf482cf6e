/** Which tests take which blocks of the pages, besides `blocks.test.ts`. */

/** The tests that run the commands of pages. */
export const RUN_BY: Readonly<Record<string, string>> = {
  "docs/deployment/README.md": "docs/commands",
  "docs/deployment/authzen.md": "authorizers/authzen/guide",
  "docs/deployment/aws.md": "authorizers/aws/guide",
  "docs/deployment/docker.md": "deploy/run/image",
  "docs/deployment/front-proxy.md": "deploy/run/gateway-guides",
  "docs/deployment/gateway.md": "deploy/run/gateway-guides",
  "docs/deployment/gateway-api.md": "deploy/run/gateway-api-guide",
  "docs/deployment/helm.md": "deploy/run/helm-guide",
  "docs/deployment/istio.md": "deploy/run/istio-guide",
  "docs/deployment/systemd.md": "deploy/run/systemd",
  ...Object.fromEntries(
    ["nginx", "caddy", "haproxy", "traefik", "envoy-http", "envoy-grpc"].map((page) => [
      `docs/deployment/${page}.md`,
      "deploy/run/proxy-guides",
    ]),
  ),
  "docs/control-plane.md": "docs/commands",
  "docs/fleet.md": "e2e/control-plane/rollout-guide",
  "docs/identity.md": "docs/commands",
  "docs/operations/incidents.md": "operations/incidents",
  "docs/policies.md": "docs/commands",
  "docs/policy-diff.md": "docs/commands",
  "docs/recipes/README.md": "docs/recipes",
  "docs/recipes/gradual-rollout.md": "docs/recipes",
  "docs/replay.md": "docs/commands",
  "docs/rollout.md": "e2e/control-plane/rollout-guide",
  "docs/tutorial.md": "docs/tutorial",
  "docs/webhooks.md": "docs/commands",
};

const OF_A_MACHINE = "installs into a machine; docs/deployment has the same steps, which are run";

/** Pages whose commands no test runs, and why; their form is checked all the same. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "clients/node/README.md":
    "installs a package that is not published yet; test/clients installs it from here",
  "clients/python/README.md":
    "installs a package that is not published yet; test/clients installs it from here",
  "deploy/authzen/README.md":
    "needs a checkout of another project; test/deploy/authzen.test.ts runs the program on its files",
  "deploy/caddy/README.md": OF_A_MACHINE,
  "deploy/docker/README.md":
    "needs Docker; test/deploy/run/image.test.ts does what the Dockerfile says without",
  "deploy/envoy-gateway/README.md": "needs a cluster",
  "deploy/haproxy/README.md": OF_A_MACHINE,
  "deploy/helm/README.md": "needs a cluster",
  "deploy/istio/README.md": "needs a cluster",
  "deploy/nginx/README.md": OF_A_MACHINE,
  "deploy/systemd/README.md": OF_A_MACHINE,
  "README.md":
    "the tests that it names start everything; test/e2e/control-plane/up.test.ts tries what is printed",
  "docs/operations.md":
    "for production; test/e2e/control-plane/backup.test.ts and test/control/encryption run the same commands",
  "docs/doctor.md": "needs a mesh; test/cli/doctor.test.ts asks a real Envoy",
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
