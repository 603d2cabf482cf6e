import * as z from "zod";
import {
  choice,
  duration,
  holdsPaths,
  ipAddress,
  map,
  optional,
  parseSocketAddress,
  path,
  ratio,
  setting,
  text,
  url,
  wholeNumber,
} from "../setting-types.ts";

export const policies = z
  .strictObject({
    directory: setting(path(), "policies", "Folder with the policy sets."),
    policy_set: setting(
      text().refine(
        (name) => /^[\w.-]+$/.test(name) && !name.startsWith("."),
        "must be the name of a policy set",
      ),
      "default",
      "The policy set in force: the file `<name>.yaml` of the folder, or the folder `<name>` in it.",
    ),
    source: setting(
      choice("directory", "control_plane"),
      "directory",
      "Where the policy set comes from: the folder, or the version that is active in the control plane.",
    ),
    refresh_interval: setting(
      duration("100ms", "24h"),
      "30s",
      "How often the policy set is looked at for changes, besides being watched.",
    ),
    environment: setting(text(), "production", "What conditions see as `env.environment`."),
    cache_size: setting(
      wholeNumber(0, 10_000_000),
      10_000,
      "Tokens, and decisions of each kind, kept in the caches of each worker, if they are not long: no cache takes more than this many times 4 KiB (tokens) or 1 KiB (decisions). 0: no decisions, and as many tokens as by default.",
    ),
  })
  .prefault({});

const source = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("file"), path: path() }),
    z.strictObject({ type: z.literal("control_plane") }),
  ],
  { error: "must be a map with `type` (`file` or `control_plane`), and `path` for a file" },
);

export const attributeSources = setting(
  holdsPaths(
    map(
      z.string().regex(/^[A-Za-z_]\w*$/, "must be a plain word"),
      source,
      "name to `{ type: file, path: <file> }` or `{ type: control_plane }`",
    ),
    (sources, resolve) =>
      Object.fromEntries(
        Object.entries(sources).map(([name, one]) => [
          name,
          one.type === "file" ? { ...one, path: resolve(one.path) } : one,
        ]),
      ),
  ),
  {},
  "Sources that policy sets look attributes up in. `file`: a JSON or YAML file that maps keys to attributes (in YAML, a " +
    "key that looks like a number, `true` or `null` needs quotes); " +
    "`control_plane`: its directory of users, by user id.",
);

const listen = holdsPaths(
  text().refine(
    (value) => /^unix:.+/.test(value) || parseSocketAddress(value) !== undefined,
    "must be an address and port such as `127.0.0.1:9191`, or `unix:` and a path",
  ),
  (value, resolve) => value.replace(/^unix:(.+)$/, (_, path: string) => `unix:${resolve(path)}`),
);

export const authz = z
  .strictObject({
    listen: setting(
      listen,
      "127.0.0.1:9191",
      "Where `gatehouse authz` serves `envoy.service.auth.v3.Authorization`: address and port, or `unix:` and a path.",
    ),
    decision_timeout: setting(
      duration("2ms", "1m"),
      "500ms",
      "Time for one decision. After it the request is answered 503, never forwarded. After half of it another worker is " +
        "asked.",
    ),
    state_directory: optional(
      path(),
      "Folder in which Envoy finds what became of open WebSocket connections, for an Envoy of your own that runs " +
        "elsewhere: a volume that both have, which nobody else can read. Default: one that is made at every start.",
    ),
    drain_timeout: setting(
      duration("0s", "1h"),
      "10s",
      "Time that requests under way are given at shutdown.",
    ),
    tls: z
      .strictObject({
        certificate: optional(
          path(),
          "PEM file with the service's certificate chain, for `gatehouse authz`.",
        ),
        private_key: optional(path(), "PEM file with the certificate's private key."),
        client_ca: optional(path(), "PEM file of the authorities whose clients may call (mTLS)."),
      })
      .prefault({}),
  })
  .prefault({});

export const telemetry = z
  .strictObject({
    listen_address: setting(ipAddress(), "127.0.0.1", "Address of metrics and health."),
    port: setting(
      wholeNumber(0, 65535),
      9090,
      "Port of `/metrics`, `/healthz` and `/readyz`. 0: any free one.",
    ),
    control_plane_port: setting(
      wholeNumber(0, 65535),
      9091,
      "Port of `/metrics` of `gatehouse control-plane`, which may run beside a gateway; its `/healthz` and `/readyz` are at " +
        "the ports of the API. 0: any free one.",
    ),
    log_level: setting(
      choice("debug", "info", "warn", "error"),
      "info",
      "Least severity of log lines (on stderr).",
    ),
    tracing: z
      .strictObject({
        endpoint: optional(
          url(),
          "OTLP/HTTP endpoint that spans are sent to, e.g. `http://127.0.0.1:4318`; `/v1/traces` is appended. " +
            "Default: no tracing.",
        ),
        sample_ratio: setting(ratio(), 0.1, "Share of requests that are traced."),
      })
      .prefault({}),
  })
  .prefault({});
