import { Command, Option } from "commander";
import type * as z from "zod";
import { SCOPES, type Actor } from "../control/platform/actor.ts";
import { rollApiKey } from "../control/resources/api-keys/roll.ts";
import { apiKeyRoll, DEFAULT_OVERLAP, newApiKey } from "../control/resources/api-keys/schemas.ts";
import {
  createApiKey,
  familyOf,
  listApiKeys,
  revokeApiKey,
  statusOfKey,
  type ApiKeyRow,
} from "../control/resources/api-keys/store.ts";
import type { ControlContext } from "../control/platform/context.ts";
import { ENVIRONMENTS, type Environment } from "../control/platform/environment.ts";
import { ApiError } from "../control/platform/errors.ts";
import { MAX_LIMIT } from "../control/platform/frame/list.ts";
import { newId } from "../control/platform/ids.ts";
import type { UnitOrigin } from "../control/platform/unit.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { CONFIG_OPTION, DATA_DIR_OPTION } from "./options.ts";
import { beforeSignals } from "./run.ts";
import type { OpenedEnvironment } from "../processes/control-plane/open-environment.ts";

/** Which database to open, and how. */
export interface OpenOptions {
  readonly environment: Environment;
  readonly config?: string;
  readonly dataDir?: string;
  /** The command changes nothing, so the database is not migrated for it. */
  readonly readOnly?: boolean;
}

interface CreateOptions extends OpenOptions {
  readonly scope: string;
  readonly name: string;
  readonly customer?: string;
  readonly expires?: string;
  readonly allowAddress?: readonly string[];
}

interface RollOptions extends OpenOptions {
  readonly overlap: string;
}

const OPERATOR: Actor = { kind: "system", id: "cli", name: "gatehouse keys" };
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/**
 * `gatehouse keys ...`: API keys, created on the machine itself. Elsewhere, people create them in the dashboard.
 *
 * @param open - opens an environment's database
 */
export function keysCommand(open: (options: OpenOptions) => Promise<OpenedEnvironment>): Command {
  const within = <T>(options: OpenOptions, work: (context: ControlContext) => Promise<T>) =>
    withEnvironment(open, options, work);
  return new Command("keys")
    .description(
      "create, list, roll and revoke API keys, and rotate the encryption key, on the machine itself",
    )
    .addCommand(
      environmentCommand("create", "create an API key and print only the key on stdout")
        .addOption(
          new Option("-s, --scope <scope>", "permissions of the key").choices(SCOPES).makeOptionMandatory(),
        )
        .requiredOption("-n, --name <name>", "name that says what the key is for")
        .option("--customer <id>", "limit the key to one customer")
        .option(
          "--expires <when>",
          "expiry: a time from now (`90d`, `12h`, `30m`) or a date (default: never)",
        )
        .option(
          "--allow-address <networks...>",
          "addresses, or networks in CIDR notation, from which the key may be used (default: everywhere)",
        )
        .action(async (options: CreateOptions) => {
          const key = await within(options, (context) => create(context, options));
          process.stdout.write(`${key}\n`);
        }),
    )
    .addCommand(
      environmentCommand("list", "list API keys, newest first")
        .option("--json", "as JSON, one key per line")
        .action(async (options: OpenOptions & { readonly json?: true }) => {
          await within(options, (context) => list(context, options.json === true));
        }),
    )
    .addCommand(
      environmentCommand("roll", "replace an API key, and print the new one alone on stdout")
        .argument("<id>", "`key_...`, as listed")
        .option("--overlap <duration>", "how long the old key stays valid (`12h`, `30m`, `0`)", "24h")
        .action(async (id: string, options: RollOptions) => {
          const { secret, previous } = await within(options, (context) => roll(context, id, options));
          const { revoked_at: revoked, expires_at: end } = previous;
          const from = revoked === null ? (end?.toISOString() ?? "") : "the next request";
          process.stderr.write(`${id} stops working at ${from}\n`);
          process.stdout.write(`${secret}\n`);
        }),
    )
    .addCommand(
      environmentCommand("revoke", "revoke an API key, effective from the next request")
        .argument("<id>", "id from `keys list`, `key_...`")
        .action(async (id: string, options: OpenOptions) => {
          await within(options, ({ units }) => units(origin(), (unit) => revokeApiKey(unit, id)));
        }),
    );
}

/** A command about one environment, while a control plane may be running. */
export function environmentCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(
      new Option("-e, --environment <environment>", "environment of the keys")
        .choices(ENVIRONMENTS)
        .makeOptionMandatory(),
    )
    .option(...CONFIG_OPTION)
    .option(...DATA_DIR_OPTION);
}

/** Opens the environment that the options name, until the work is done. */
export function withEnvironment<T>(
  open: (options: OpenOptions) => Promise<OpenedEnvironment>,
  options: OpenOptions,
  work: (context: ControlContext) => Promise<T>,
): Promise<T> {
  return beforeSignals(async () => {
    const opened = await open(options);
    try {
      return await work(opened.context);
    } catch (error) {
      throw error instanceof ApiError ? refused(error) : error;
    } finally {
      await opened.close();
    }
  });
}

async function create(
  { units, clock, settings }: ControlContext,
  { name, scope, customer, expires, allowAddress }: CreateOptions,
): Promise<string> {
  const data = parsedBy(newApiKey, {
    name,
    scope,
    ...(customer !== undefined && { customer_id: customer }),
    ...(expires !== undefined && { expires_at: readExpiry(expires, clock()) }),
    ...(allowAddress !== undefined && { allowed_addresses: allowAddress }),
  });
  const { secret } = await units(origin(), (unit) =>
    createApiKey(unit, {
      environment: settings.environment,
      name: data.name,
      scope: data.scope,
      ...(data.customer_id !== undefined && { customerId: data.customer_id }),
      ...(data.expires_at !== undefined && { expiresAt: data.expires_at }),
      ...(data.allowed_addresses !== undefined && { allowedAddresses: data.allowed_addresses }),
    }),
  );
  return secret;
}

async function roll({ units, settings }: ControlContext, id: string, { overlap: text }: RollOptions) {
  const { environment } = settings;
  const duration = text === "0" ? 0 : readDuration(text);
  if (duration === undefined)
    throw new ExitError("`--overlap` must be a duration such as `24h`, `30m` or `0`", EXIT_USAGE);
  const data = parsedBy(apiKeyRoll, { overlap: duration / 1000 });
  return units(origin(), (unit) =>
    rollApiKey(unit, { environment, id, overlap: data?.overlap ?? DEFAULT_OVERLAP }),
  );
}

/** @throws ExitError that lists every invalid option */
function parsedBy<Schema extends z.ZodType>(schema: Schema, options: object): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new ExitError(problems.join("\n"), EXIT_USAGE);
}

async function list({ db, clock }: ControlContext, json: boolean): Promise<void> {
  const now = new Date(clock());
  for (let page = 1; ; page += 1) {
    const request = { page, limit: MAX_LIMIT, sort: "created_at", order: "desc" } as const;
    const { rows, total } = await listApiKeys(db, request, now);
    for (const row of rows) {
      const status = statusOfKey(row, now);
      const used = row.last_used_at?.toISOString() ?? "never";
      const columns = [
        row.id,
        status,
        row.scope,
        `...${row.hint}`,
        `used ${used}`,
        row.customer_id ?? "all",
        row.name,
        ...rolled(row),
      ];
      const line = json ? JSON.stringify({ ...row, family_id: familyOf(row), status }) : columns.join("  ");
      process.stdout.write(`${line}\n`);
    }
    if (page * MAX_LIMIT >= total) return;
  }
}

/** The message that a key was replaced, and until when the old one is valid. */
function rolled({ rolled_to: to, expires_at: expires, revoked_at: revoked }: ApiKeyRow): string[] {
  const end =
    revoked === null ? `ends ${expires?.toISOString() ?? "never"}` : `ended ${revoked.toISOString()}`;
  return to === null ? [] : [`rolled to ${to}`, end];
}

/** `90d`, `12h` or `30m`, in milliseconds. */
function readDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([dhm])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** `90d` from now, or a date as given, which the schema checks. */
function readExpiry(text: string, now: number): string {
  const duration = readDuration(text);
  if (duration !== undefined) return new Date(now + duration).toISOString();
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}

function origin(): UnitOrigin {
  return { actor: OPERATOR, requestId: newId("request"), clientIp: "127.0.0.1" };
}

function refused({ message, details }: ApiError): ExitError {
  const { fields = [] } = details as { fields?: readonly { path: string; message: string }[] };
  return new ExitError([message, ...fields.map((field) => `${field.path} ${field.message}`)].join("\n"));
}
