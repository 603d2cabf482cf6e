import type { Command } from "commander";
import { newId } from "../control/platform/ids.ts";
import { replaceSetupLink } from "../control/resources/dashboard-users/links.ts";
import type { OpenedEnvironment } from "../processes/control-plane/open-environment.ts";
import type { ControlPlane } from "../processes/control-plane/start.ts";
import { ExitError, EXIT_FINDINGS, EXIT_USAGE } from "./exit.ts";
import { environmentCommand, withEnvironment, type OpenOptions } from "./keys.ts";
import { ownCommand, shellWord } from "./own-command.ts";

/** Base address of the links that a command prints. */
export const URL_OPTION = [
  "--url <address>",
  "public address of the API (default: from the configuration)",
] as const;

interface OwnerLinkOptions extends OpenOptions {
  readonly url?: string;
}

/**
 * `gatehouse owner-link`: makes a new link for the first owner, in case the one printed at startup is lost.
 *
 * @param open - opens an environment's database
 */
export function ownerLinkCommand(open: (options: OpenOptions) => Promise<OpenedEnvironment>): Command {
  return environmentCommand(
    "owner-link",
    "create a one-time setup link for the first owner of an environment and print it; earlier links stop working",
  )
    .option(...URL_OPTION)
    .action(async (options: OwnerLinkOptions) => {
      const link = await withEnvironment(open, options, async ({ settings, units }) => {
        const url = addressOf(options, settings.publicUrl);
        const actor = { kind: "system", id: "cli", name: "gatehouse owner-link" } as const;
        return units({ actor, requestId: newId("request"), clientIp: "127.0.0.1" }, async (unit) => {
          const made = await replaceSetupLink(unit.trx, url, unit.now);
          if (made !== undefined)
            unit.record({ action: "owner_link.created", target: { type: "owner_link", id: "owner_link" } });
          return made;
        });
      });
      if (link === undefined)
        throw new ExitError(
          `${options.environment} already has an owner, who can invite others with \`POST /v1/dashboard/users\`; ` +
            "if the owner cannot sign in, run `gatehouse owners reset`",
          EXIT_FINDINGS,
        );
      process.stdout.write(`${link.url}\n`);
    });
}

/** @returns the address of the API that links point to. @throws ExitError if it is not known */
export function addressOf({ url }: { readonly url?: string }, configured: string): string {
  if (url === undefined) {
    if (new URL(configured).port !== "0") return configured;
    throw new ExitError("the configured port is 0: pass the address of the API with `--url`", EXIT_USAGE);
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw new ExitError(`--url: \`${url}\` is not an http or https URL`, EXIT_USAGE);
  return url.replace(/\/+$/, "");
}

/** The options with which another command finds the same databases. */
export interface StartOptions {
  readonly config?: string;
  readonly dataDir?: string;
}

/** Startup lines for the first owners: new setup links, and those of an earlier start that are still valid. */
export function ownerLines(
  environments: ControlPlane["environments"],
  { config, dataDir }: StartOptions = {},
): string[] {
  return environments.flatMap(({ environment, setupLink, context }) => {
    if (setupLink === undefined) return [];
    const until = `until ${setupLink.expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    if (setupLink.url !== undefined)
      return [`  first owner of ${environment} (this link works once, ${until}): ${setupLink.url}`];
    const command = [
      ownCommand(),
      `owner-link --environment ${environment}`,
      ...(config === undefined ? [] : [`--config ${shellWord(config)}`]),
      ...(dataDir === undefined ? [] : [`--data-dir ${shellWord(dataDir)}`]),
      `--url ${shellWord(context.settings.publicUrl)}`,
    ].join(" ");
    return [
      `  first owner of ${environment}: the link printed by an earlier start is valid ${until}; for a new one run: ${command}`,
    ];
  });
}
