import { Command } from "commander";
import { resetOwner } from "../control/resources/dashboard-users/reset-owner.ts";
import { emailAddress } from "../control/platform/frame/schemas.ts";
import { newId } from "../control/platform/ids.ts";
import { ExitError, EXIT_USAGE } from "./exit.ts";
import { environmentCommand, withEnvironment, type OpenOptions } from "./keys.ts";
import { addressOf, URL_OPTION } from "./owner-link.ts";
import type { OpenedEnvironment } from "../processes/control-plane/open-environment.ts";

interface ResetOptions extends OpenOptions {
  readonly email: string;
  readonly url?: string;
}

/**
 * `gatehouse owners ...`: restores access on the machine itself when no owner can sign in.
 *
 * @param open - opens an environment's database
 */
export function ownersCommand(open: (options: OpenOptions) => Promise<OpenedEnvironment>): Command {
  return new Command("owners").description("restore an owner's access, on the machine itself").addCommand(
    environmentCommand(
      "reset",
      "print a one-time link with which an owner sets a new password, and clear the failed sign-ins",
    )
      .requiredOption("--email <address>", "the owner's e-mail address")
      .option(...URL_OPTION)
      .action(async (options: ResetOptions) => {
        const email = emailAddress().safeParse(options.email);
        if (!email.success)
          throw new ExitError(`--email: \`${options.email}\` is not a valid e-mail address`, EXIT_USAGE);
        const link = await withEnvironment(open, options, async ({ settings, units }) => {
          const url = addressOf(options, settings.publicUrl);
          const actor = { kind: "system", id: "cli", name: "gatehouse owners reset" } as const;
          return units({ actor, requestId: newId("request"), clientIp: "127.0.0.1" }, (unit) =>
            resetOwner(unit, email.data, url),
          );
        });
        process.stdout.write(`${link.url}\n`);
      }),
  );
}
