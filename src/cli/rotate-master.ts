import type { Command } from "commander";
import type { ControlContext } from "../control/platform/context.ts";
import { rotateMasterKey, countSealedOtherwise } from "../control/encryption/rotate.ts";
import { newId } from "../control/platform/ids.ts";
import { inBackticks } from "../text/index.ts";
import { ExitError, EXIT_FINDINGS } from "./exit.ts";
import { environmentCommand, withEnvironment, type OpenOptions } from "./keys.ts";
import type { OpenedEnvironment } from "../processes/control-plane/open-environment.ts";
import { SEALED_COLUMNS } from "../control/sealed-columns.ts";

interface RotateOptions extends OpenOptions {
  readonly status?: boolean;
}

/**
 * `gatehouse keys rotate-master`: re-encrypts with `api.encryption_key` every secret of an environment that is encrypted
 * with one of `api.previous_encryption_keys`.
 *
 * @param open - opens an environment's database
 */
export function rotateMasterCommand(open: (options: OpenOptions) => Promise<OpenedEnvironment>): Command {
  return environmentCommand(
    "rotate-master",
    "re-encrypt with `api.encryption_key` every secret that is encrypted with one of `api.previous_encryption_keys`; " +
      "instances may keep running, and an interrupted run is resumed",
  )
    .option("--status", "list what is left to do without doing it; exit code 1 if there is anything")
    .action(({ status = false, ...options }: RotateOptions) =>
      withEnvironment(open, { ...options, readOnly: status }, status ? tellStatus : rotate),
    );
}

async function tellStatus({ db, box, settings }: ControlContext): Promise<void> {
  const counts = await countSealedOtherwise(db, box.keyIds[0], SEALED_COLUMNS);
  const left = counts.filter((row) => row.left > 0);
  print(
    settings.environment,
    left.length === 0 ? unused(box.keyIds) : [`${listed(left, "left")} left to do`],
  );
  if (left.length > 0) throw new ExitError("", EXIT_FINDINGS);
}

async function rotate(context: ControlContext): Promise<void> {
  const { box, settings } = context;
  const actor = { kind: "system", id: "cli", name: "gatehouse keys rotate-master" } as const;
  const origin = { actor, requestId: newId("request"), clientIp: "127.0.0.1" };
  const { keyId, tables } = await rotateMasterKey(context, origin, SEALED_COLUMNS);
  const done = tables.filter(({ resealed }) => resealed > 0);
  const lines = done.length === 0 ? [] : [`encrypted with the key \`${keyId}\`: ${listed(done, "resealed")}`];
  const unreadable = tables.filter((table) => table.unreadable > 0);
  const left = tables.filter((table) => table.left > table.unreadable);
  if (unreadable.length === 0 && left.length === 0) {
    print(settings.environment, [...lines, ...unused(box.keyIds)]);
    return;
  }
  print(settings.environment, lines);
  const problems = [
    ...(unreadable.length === 0
      ? []
      : [
          `no configured key decrypts ${listed(unreadable, "unreadable")}: add their key to ` +
            "`api.previous_encryption_keys`, or replace those secrets",
        ]),
    ...(left.length === 0
      ? []
      : [
          `${listed(left, "left")} left to do: they were locked, or an instance whose \`api.encryption_key\` ` +
            "is a previous key wrote them; run this command again",
        ]),
  ];
  throw new ExitError(problems.map((text) => `${settings.environment}: ${text}`).join("\n"), EXIT_FINDINGS);
}

/** Says which keys can be removed from the configuration. */
function unused([sealing, ...others]: readonly string[]): string[] {
  if (others.length === 0) return [`every secret is encrypted with the key \`${sealing ?? ""}\``];
  const ids = inBackticks(others);
  return [
    `nothing is encrypted with ${ids} any more: when no instance uses it as ` +
      "`api.encryption_key`, run this command again; if it reports the same for every environment, remove the key from " +
      "`api.previous_encryption_keys`",
  ];
}

function listed<Key extends string>(
  tables: readonly ({ readonly table: string } & Readonly<Record<Key, number>>)[],
  key: Key,
): string {
  return tables.map((row) => `${row[key]} of ${row.table}`).join(", ");
}

function print(environment: string, lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${environment}: ${line}\n`);
}
