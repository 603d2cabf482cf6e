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
import * as z from "zod";

/** Where a gateway finds the control plane that it follows. */
export const controlPlane = z
  .strictObject({
    url: optional(
      url(),
      "Address of the control plane that this gateway follows: customers, users and sessions, and where chosen policy " +
        "sets and audit. Default: none; the gateway works by itself.",
    ),
    api_key: optional(
      text(),
      "The gateway's API key, of scope `gateway`. Better in a file, or in the environment.",
    ),
    api_key_file: optional(path(), "File that holds the gateway's API key and nothing else."),
    max_stale: setting(
      duration("10s", "720h"),
      "24h",
      "How long what was known last goes on being used while the control plane cannot be reached. After it, tokens of " +
        "its users are refused with 503.",
    ),
    key_refused_grace: setting(
      duration("0s", "24h"),
      "1m",
      "How long what was known last goes on being used once the control plane refuses this gateway's API key (401 or " +
        "403), which is no outage: the gateway is not ready at once. After it, tokens of its users are refused with 503, " +
        "until a key is accepted; one in `api_key_file` is read again without a restart.",
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
    port: setting(wholeNumber(0, 65535), 8080, "Port of the production environment. 0: any free one."),
    sandbox_port: setting(wholeNumber(0, 65535), 8081, "Port of the sandbox environment. 0: any free one."),
    public_url: optional(
      url(),
      "Address under which clients reach the production API: the issuer of its tokens. Default: address and port.",
    ),
    sandbox_public_url: optional(url(), "The same of the sandbox."),
    environments: setting(
      list(choice("production", "sandbox")).refine((names) => names.length > 0, "must not be empty"),
      ["production", "sandbox"],
      "Environments that this process serves.",
    ),
    data_directory: setting(
      path(),
      ".gatehouse",
      "Folder of the embedded database and of the encryption key, where none is configured.",
    ),
    encryption_key: optional(
      masterKey(),
      "Key that client secrets, webhook secrets and signing keys are encrypted with (AES-256-GCM): 32 bytes in base64. " +
        "Needed with a database of your own; with the embedded one, a key is made in the data directory. A start with " +
        "another key than the databases' secrets are encrypted with fails.",
    ),
    previous_encryption_keys: setting(
      list(masterKey(), "a list of keys, each of 32 bytes in base64"),
      [],
      "Keys that open what was encrypted with them, and encrypt nothing: those that `api.encryption_key` has replaced, " +
        "until `gatehouse keys rotate-master` says that they are not used any more, and the next one, before any instance " +
        "uses it.",
    ),
    trusted_proxies: setting(
      list(cidr()),
      [],
      "Proxies in front of the API whose X-Forwarded-For tells the client's address.",
    ),
    rate_limits: z
      .strictObject({
        authentication: setting(wholeNumber(1, 10_000_000), 1000, "Requests a minute and key to `/auth`."),
        management: setting(
          wholeNumber(1, 10_000_000),
          500,
          "Requests a minute and key to customers, policies and all else.",
        ),
        analytics: setting(
          wholeNumber(1, 10_000_000),
          100,
          "Requests a minute and key to `/analytics` and `/audit`.",
        ),
      })
      .prefault({}),
    publish_policies: setting(
      list(choice("production", "sandbox"), "a list of environments such as `[sandbox]`"),
      [],
      "Environments in which the folder `policies.directory` is published as a policy set, and put in force, whenever it " +
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
      "Connections to each database. A fifth each is for analytics and audit and for records of gateways, up to two are for " +
        "what gateways follow, one looks API keys up, the others are for the API. One more listens for changes, and where " +
        "webhooks are used, their deliveries take up to five more.",
    ),
    statement_timeout: setting(
      duration("1s", "10m"),
      "30s",
      "A statement that takes longer is cancelled, and its request answered 503. Where PostgreSQL has said nothing at all for some " +
        "seconds more (as long again, at most 5 s), the connection is closed, so that a server that hangs holds up no " +
        "request for longer. Who asks is looked up in 5 s at most. Migrations have no bound.",
    ),
    analytics_timeout: setting(duration("1s", "10m"), "30s", "The same for analytics, audit and exports."),
    redis_url: optional(
      text().refine((value) => /^rediss?:\/\//.test(value), "must be a `redis://` URL"),
      "Redis that counts requests for rate limits. Also `REDIS_URL`. Default: PostgreSQL counts.",
    ),
  })
  .prefault({});

export const signIn = z
  .strictObject({
    audience: setting(
      text(),
      "gatehouse",
      "The `aud` of access tokens: what gateways expect in `identity.audience`.",
    ),
    access_token_lifetime: setting(duration("1m", "24h"), "15m", "How long an access token is good."),
    refresh_token_lifetime: setting(
      duration("1m", "8760h"),
      "24h",
      "How long a refresh token may stay unused.",
    ),
    session_lifetime: setting(
      duration("1m", "8760h"),
      "12h",
      "How long a session lasts, however much it is used. Policies of customers may shorten it.",
    ),
    signing_key_lifetime: setting(
      duration("1h", "87600h"),
      "720h",
      "After which time a new key signs tokens.",
    ),
    allow_insecure_issuers: setting(
      flag(),
      false,
      "Identity providers may be reached over http and at private addresses. For tests and closed networks.",
    ),
  })
  .prefault({});

export const webhooks = z
  .strictObject({
    allow_private_targets: setting(
      flag(),
      false,
      "Receivers may be at private, loopback and link-local addresses, and be reached over http.",
    ),
    timeout: setting(duration("100ms", "1m"), "10s", "Time that a receiver has for its answer."),
    retry_for: setting(
      duration("1m", "720h"),
      "24h",
      "How long a delivery is tried again. After it, the webhook is disabled.",
    ),
  })
  .prefault({});

export const retention = z
  .strictObject({
    audit: setting(duration("24h", "87600h"), "2160h", "How long audit records are kept in the database."),
    events: setting(duration("24h", "87600h"), "2160h", "How long events are kept."),
    // longer than records may wait at a gateway
    deleted: setting(
      duration("192h", "87600h"),
      "720h",
      "How long the rows of deleted users and customers are kept, which hold ids and times alone.",
    ),
  })
  .prefault({});
