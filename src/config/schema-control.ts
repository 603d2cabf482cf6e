import {
  choice,
  cidr,
  duration,
  flag,
  ipAddress,
  list,
  optional,
  path,
  setting,
  text,
  url,
  wholeNumber,
} from "../setting-types.ts";
import { accessLog } from "./schema-gateway.ts";
import * as z from "zod";

/** The control plane that a gateway syncs with. */
export const controlPlane = z
  .strictObject({
    url: optional(
      url(),
      "Address of the control plane that this gateway syncs with: customers, users and sessions and, if configured, policy " +
        "sets and audit. Default: none; the gateway works on its own.",
    ),
    api_key: optional(
      text(),
      "The gateway's API key, with the scope `gateway`. Prefer `api_key_file` or the environment variable.",
    ),
    api_key_file: optional(path(), "File that contains only the gateway's API key."),
    max_stale: setting(
      duration("10s", "720h"),
      "24h",
      "How long the last known state stays in use while the control plane is unreachable. After that, tokens of its users " +
        "are refused with 503.",
    ),
    key_refused_grace: setting(
      duration("0s", "24h"),
      "1m",
      "How long the last known state stays in use after the control plane has refused this gateway's API key (401 or " +
        "403). Unlike during an outage, the gateway is not ready at once. After that, tokens of its users are refused with " +
        "503 until a key is accepted; `api_key_file` is read again without a restart.",
    ),
  })
  .prefault({});

function masterKey() {
  return text().refine((value) => Buffer.from(value, "base64").length === 32, "must be 32 bytes in base64");
}

/** The control plane's own server. */
export const api = z
  .strictObject({
    listen_address: setting(ipAddress(), "127.0.0.1", "Address that the API listens on."),
    port: setting(wholeNumber(0, 65535), 8080, "Port of the production environment. 0: any free port."),
    sandbox_port: setting(wholeNumber(0, 65535), 8081, "Port of the sandbox environment. 0: any free port."),
    tls: z
      .strictObject({
        certificate: optional(
          path(),
          "PEM file with the API's certificate chain. Both environments are then served over TLS only. The files are followed: " +
            "a renewed certificate needs no restart. Default: without TLS, for a proxy in front that ends it.",
        ),
        private_key: optional(path(), "PEM file with the certificate's private key."),
        client_ca: optional(
          path(),
          "PEM file with certificate authorities: only clients with a certificate of one of them can connect (mTLS), browsers " +
            "included.",
        ),
      })
      .prefault({}),
    public_url: optional(
      url(),
      "Public URL of the production API, which is also the issuer of its tokens. Default: address and port.",
    ),
    sandbox_public_url: optional(url(), "Public URL of the sandbox API, likewise."),
    environments: setting(
      list(choice("production", "sandbox")).refine((names) => names.length > 0, "must not be empty"),
      ["production", "sandbox"],
      "Environments that this process serves.",
    ),
    data_directory: setting(
      path(),
      ".gatehouse",
      "Folder of the embedded database and, if no encryption key is configured, of the generated one.",
    ),
    encryption_key: optional(
      masterKey(),
      "Key that client secrets, webhook secrets and signing keys are encrypted with (AES-256-GCM): 32 bytes in base64. " +
        "Required with an external database; with the embedded one, a key is generated in the data directory. The control " +
        "plane does not start with a key that does not match the databases' secrets.",
    ),
    previous_encryption_keys: setting(
      list(masterKey(), "a list of keys, each of 32 bytes in base64"),
      [],
      "Keys that only decrypt: those that `api.encryption_key` has replaced, until `gatehouse keys rotate-master` reports " +
        "that they are no longer used, and the next key, before any instance encrypts with it.",
    ),
    access_log: setting(
      accessLog,
      "off",
      "One line of JSON per request to the API: `stderr`, or a file to append to. `off`: none. Changes and refused calls are " +
        "in the audit trail in any case.",
    ),
    trusted_proxies: setting(
      list(cidr()),
      [],
      "Proxies in front of the API whose X-Forwarded-For, with or without ports, is trusted for the client's address.",
    ),
    egress_proxy: optional(
      url(),
      "HTTP proxy that tunnels the control plane's requests to webhook receivers and identity providers (CONNECT), with a user " +
        "name and password if it wants them. It is asked for addresses that have been checked, never for names. Default: none.",
    ),
    rate_limits: z
      .strictObject({
        authentication: setting(wholeNumber(1, 10_000_000), 1000, "Requests per minute and key to `/auth`."),
        management: setting(
          wholeNumber(1, 10_000_000),
          500,
          "Requests per minute and key to customers, policies and everything else.",
        ),
        analytics: setting(
          wholeNumber(1, 10_000_000),
          100,
          "Requests per minute and key to `/analytics` and `/audit`.",
        ),
      })
      .prefault({}),
    publish_policies: setting(
      list(choice("production", "sandbox"), "a list of environments such as `[sandbox]`"),
      [],
      "Environments in which the folder `policies.directory` is published as a policy set and activated whenever it " +
        "changes. Default: none; policy sets are published through the API.",
    ),
  })
  .prefault({});

export const database = z
  .strictObject({
    url: optional(
      text().refine((value) => /^postgres(ql)?:\/\//.test(value), "must be a `postgres://` URL"),
      "PostgreSQL database of production. Also `DATABASE_URL`. Default: an embedded PostgreSQL in `api.data_directory`.",
    ),
    sandbox_url: optional(
      text().refine((value) => /^postgres(ql)?:\/\//.test(value), "must be a `postgres://` URL"),
      "PostgreSQL database of the sandbox. Also `SANDBOX_DATABASE_URL`.",
    ),
    pool_size: setting(
      wholeNumber(5, 1000),
      10,
      "Connections to each database. A fifth is reserved for analytics and audit, another fifth for records from gateways, up " +
        "to two for the sync with gateways and one for API-key look-ups; the rest serve the API, one caller at most all of them " +
        "but one. In addition, one connection listens for changes, one is for `/readyz`, and webhook deliveries use up to " +
        "five more.",
    ),
    statement_timeout: setting(
      duration("1s", "10m"),
      "30s",
      "A statement that takes longer is cancelled, and its request answered 503. If PostgreSQL sends nothing at all for some " +
        "more seconds (as long again, at most 5 s), the connection is closed, so that a server that hangs delays no " +
        "request for longer. Looking up the caller takes at most 5 s. Migrations have no time limit.",
    ),
    analytics_timeout: setting(duration("1s", "10m"), "30s", "The same for analytics, audit and exports."),
    redis_url: optional(
      text().refine((value) => /^rediss?:\/\//.test(value), "must be a `redis://` URL"),
      "Redis that counts requests for rate limits. Also `REDIS_URL`. Default: they are counted in PostgreSQL.",
    ),
  })
  .prefault({});

export const signIn = z
  .strictObject({
    audience: setting(
      text(),
      "gatehouse",
      "The `aud` of access tokens, which gateways expect as `identity.audience`.",
    ),
    access_token_lifetime: setting(duration("1m", "24h"), "15m", "Lifetime of access tokens."),
    refresh_token_lifetime: setting(
      duration("1m", "8760h"),
      "24h",
      "How long a refresh token stays valid without being used.",
    ),
    session_lifetime: setting(
      duration("1m", "8760h"),
      "12h",
      "Maximum lifetime of a session, regardless of use. Customers' policies may shorten it.",
    ),
    sessions_per_user: setting(
      wholeNumber(1, 1000),
      100,
      "Open sessions of one user. A sign-in beyond that ends the oldest of them (`session_limit`). All sessions of a user end in one " +
        "transaction, so there is always a limit; raise it for accounts that many devices share.",
    ),
    signing_key_lifetime: setting(
      duration("1h", "87600h"),
      "720h",
      "How often the token signing key is rotated.",
    ),
    allow_insecure_issuers: setting(
      flag(),
      false,
      "Allow identity providers over http and at private addresses. For tests and closed networks.",
    ),
  })
  .prefault({});

export const webhooks = z
  .strictObject({
    allow_private_targets: setting(
      flag(),
      false,
      "Allow webhook receivers at private, loopback and link-local addresses, and over http.",
    ),
    timeout: setting(duration("100ms", "1m"), "10s", "Time that a receiver has to respond."),
    retry_for: setting(
      duration("1m", "720h"),
      "24h",
      "How long a failed delivery is retried. After that, the webhook is disabled.",
    ),
  })
  .prefault({});

export const retention = z
  .strictObject({
    audit: setting(duration("24h", "87600h"), "2160h", "How long audit records are kept in the database."),
    inputs: setting(
      duration("24h", "87600h"),
      "168h",
      "How long the control plane keeps what rules read, which gateways with `audit.inputs` send; at most as long as the records.",
    ),
    events: setting(duration("24h", "87600h"), "2160h", "How long events are kept."),
    // longer than records may be spooled at a gateway
    deleted: setting(
      duration("192h", "87600h"),
      "720h",
      "How long the rows of deleted users and customers are kept. They contain only ids and times.",
    ),
  })
  .prefault({});
