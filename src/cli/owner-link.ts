import type { Command } from "commander";
import { newId } from "../control/platform/ids.ts";
import { replaceSetupLink } from "../control/resources/dashboard-users/links.ts";
import type { ControlPlane, OpenedEnvironment } from "../processes/control-plane/start.ts";
import { ExitError, EXIT_FINDINGS, EXIT_USAGE } from "./exit.ts";
import { environmentCommand, withEnvironment, type OpenOptions } from "./keys.ts";
import { ownCommand, shellWord } from "./own-command.ts";

/** Where links of a command lead. */
export const URL_OPTION = [
  "--url <address>",
  "where people reach the API (default: by the configuration)",
] as const;

interface OwnerLinkOptions extends OpenOptions {
  readonly url?: string;
}

/**
 * `gatehouse owner-link`: another link for the first owner, where the one that a start has printed is lost.
 *
 * @param open - opens an environment's database
 */
export function ownerLinkCommand(open: (options: OpenOptions) => Promise<OpenedEnvironment>): Command {
  return environmentCommand(
    "owner-link",
    "make a one-time link for the first owner of an environment, in place of an earlier one, and print it",
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
          `${options.environment} has an owner already, who invites everybody else: \`POST /v1/dashboard/users\`; ` +
            "for an owner who cannot sign in: `gatehouse owners reset`",
          EXIT_FINDINGS,
        );
      process.stdout.write(`${link.url}\n`);
    });
}

/** @returns the address of the API that links lead to. @throws ExitError where none is known */
export function addressOf({ url }: { readonly url?: string }, configured: string): string {
  if (url === undefined) {
    if (new URL(configured).port !== "0") return configured;
    throw new ExitError("the configured port is 0: name the address of the API by `--url`", EXIT_USAGE);
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw new ExitError(`--url: \`${url}\` is not an http or https URL`, EXIT_USAGE);
  return url.replace(/\/+$/, "");
}

/** The options of a start by which another command finds the same databases. */
export interface StartOptions {
  readonly config?: string;
  readonly dataDir?: string;
}

/** What a start says about the way in for the first owners: the links that it made, and which ones are still good. */
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
      `  first owner of ${environment}: the link of an earlier start is good ${until}; for another one: ${command}`,
    ];
  });
}
