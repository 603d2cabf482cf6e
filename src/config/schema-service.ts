import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { authzen } from "./schema-authzen.ts";
import { aws } from "./schema-aws.ts";
import {
  choice,
  duration,
  holdsPaths,
  ipAddress,
  list,
  map,
  mapOf,
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
      "The policy set in force: the file `<name>.yaml` in the folder, or its subfolder `<name>`.",
    ),
    source: setting(
      choice("directory", "control_plane"),
      "directory",
      "Source of the policy set: the folder, or the active version in the control plane.",
    ),
    refresh_interval: setting(
      duration("100ms", "24h"),
      "30s",
      "How often the policy set is checked for changes, in addition to watching the files.",
    ),
    environment: setting(text(), "production", "Value of `env.environment` in conditions."),
    cache_size: setting(
      wholeNumber(0, 10_000_000),
      10_000,
      "Number of tokens, and of decisions of each kind, cached per worker. Long entries count for more: no cache uses more " +
        "memory than this number times 4 KiB (tokens) or 1 KiB (decisions). 0: no decisions are cached, and the default number " +
        "of tokens.",
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
      z
        .string()
        .regex(
          /^[A-Za-z_]\w*$/,
          "must be a name of letters, digits and `_` that does not start with a digit",
        ),
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
  "Sources in which policy sets look up attributes. `file`: a JSON or YAML file that maps keys to attributes (in YAML, a " +
    "key that looks like a number, `true` or `null` needs quotes); " +
    "`control_plane`: its user directory, by user id.",
);

/** SPOP is not encrypted, and carries tokens. */
function isLoopback(value: string): boolean {
  const address = parseSocketAddress(value)?.address;
  return address !== undefined && ipaddr.isValid(address) && ipaddr.parse(address).range() === "loopback";
}

const listen = holdsPaths(
  text().refine(
    (value) => /^unix:.+/.test(value) || parseSocketAddress(value) !== undefined,
    "must be an address and port such as `127.0.0.1:9191`, or `unix:` and a path",
  ),
  (value, resolve) => value.replace(/^unix:(.+)$/, (_, path: string) => `unix:${resolve(path)}`),
);

/** A mistyped network must not pass for a name, so the last label of a name has a letter. */
function isCaller(value: string): boolean {
  if (value.startsWith("spiffe://")) return /^spiffe:\/\/[\w.-]+(?:\/[\w.-]+)*$/.test(value);
  const [address = ""] = value.split("/");
  // not ipaddr alone, which takes `10.0.0` for an address
  if (value.includes("/")) return isIP(address) !== 0 && ipaddr.isValidCIDR(value);
  if (isIP(value) !== 0) return true;
  const labels = value.split(".");
  return labels.every((label) => /^[\w-]+$/.test(label)) && /[A-Za-z]/.test(labels.at(-1) ?? "");
}

/** Doors of the service over HTTP, as the guides in docs/deployment name them. */
export const HTTP_DOORS = ["nginx", "caddy", "traefik", "envoy-http", "aws", "authzen"] as const;

const callers = list(
  text().refine(
    isCaller,
    "must be an address, a network in CIDR notation, a DNS name such as `proxy.internal`, or a `spiffe://` URI",
  ),
);

export const authz = z
  .strictObject({
    listen: setting(
      listen,
      "127.0.0.1:9191",
      "Where `gatehouse authz` serves `envoy.service.auth.v3.Authorization`: address and port, or `unix:` and a path.",
    ),
    http_listen: optional(
      text().refine(
        (value) => parseSocketAddress(value) !== undefined,
        "must be an address and port such as `127.0.0.1:9292`",
      ),
      "Where other proxies, functions of API Gateway (`/aws`) and callers of the Authorization API (`/access/v1`) ask for decisions over HTTP (docs/deployment): address and port of the first worker; " +
        "the others listen on the next ports. With TLS if `authz.tls` is set. Default: nowhere.",
    ),
    spop_listen: optional(
      text().refine(isLoopback, "must be a loopback address and port such as `127.0.0.1:9392`"),
      "Where HAProxy on the same machine asks for decisions (SPOE): address and port of the first worker; the others listen " +
        "on the next ports. Default: nowhere.",
    ),
    http_callers: setting(
      callers,
      [],
      "Who may ask at `http_listen` and `spop_listen`: addresses, networks, and names in client certificates (DNS or `spiffe://`; they need " +
        "`authz.tls.client_ca`). A caller needs one of them. Everybody else is refused.",
    ),
    http_doors: setting(
      list(choice(...HTTP_DOORS)),
      [...HTTP_DOORS],
      "What can ask at `http_listen`, by the names of the guides. Every caller may use each of them, so list only those that you use.",
    ),
    http_door_callers: setting(
      mapOf([...HTTP_DOORS, "haproxy"] as const, callers, "door to a list of callers"),
      {},
      "Doors that only some of `http_callers` may use, each with a list of them, written as there; `haproxy` is `spop_listen`. It narrows " +
        "the doors that it names, and no caller: who may use one only must be missing from the lists of all others. Default: each caller may use every door.",
    ),
    decision_timeout: setting(
      duration("2ms", "1m"),
      "500ms",
      "Time limit for one decision, from when a worker begins it. After that, the request is answered with 503 and never forwarded.",
    ),
    queue_timeout: setting(
      duration("0s", "1m"),
      "8s",
      "How long a check may wait for the workers under load, in addition to `decision_timeout`. Envoy lets only so many checks wait as " +
        "the workers can answer well within it, and answers any more with 503 at once. Shorter: callers are refused sooner.",
    ),
    state_directory: optional(
      path(),
      "Folder in which Envoy finds the state of open WebSocket connections. For your own Envoy that runs elsewhere: a shared " +
        "volume that nobody else can read. Default: a new folder at every start.",
    ),
    drain_timeout: setting(
      duration("0s", "1h"),
      "10s",
      "Time that current requests get to finish at shutdown.",
    ),
    tls: z
      .strictObject({
        certificate: optional(
          path(),
          "PEM file with the service's certificate chain, for `gatehouse authz`.",
        ),
        private_key: optional(path(), "PEM file with the certificate's private key."),
        client_ca: optional(path(), "PEM file with the certificate authorities of permitted clients (mTLS)."),
      })
      .prefault({}),
    aws,
    authzen,
  })
  .prefault({});

export const telemetry = z
  .strictObject({
    listen_address: setting(ipAddress(), "127.0.0.1", "Listen address of the metrics and health endpoints."),
    port: setting(
      wholeNumber(0, 65535),
      9090,
      "Port of `/metrics`, `/healthz` and `/readyz`. 0: any free port.",
    ),
    control_plane_port: setting(
      wholeNumber(0, 65535),
      9091,
      "Port of `/metrics` of `gatehouse control-plane`, which may run beside a gateway; its `/healthz` and `/readyz` are on " +
        "the API ports. 0: any free port.",
    ),
    log_level: setting(
      choice("debug", "info", "warn", "error"),
      "info",
      "Minimum severity of log lines (on stderr).",
    ),
    tracing: z
      .strictObject({
        endpoint: optional(
          url(),
          "OTLP/HTTP endpoint that receives spans, e.g. `http://127.0.0.1:4318`; `/v1/traces` is appended. " +
            "Default: no tracing.",
        ),
        sample_ratio: setting(ratio(), 0.1, "Fraction of requests that are traced."),
      })
      .prefault({}),
  })
  .prefault({});
