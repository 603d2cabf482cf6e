import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { createDemoIdentity, type DemoTokenOptions } from "../demo/identity.ts";
import { DEMO_ROLES } from "../demo/people.ts";

/** Where `up` keeps its keys and its audit file, and where `demo token` finds the keys. */
export const DATA_DIRECTORY = ".gatehouse";
export const DEMO_KEYS = join(DATA_DIRECTORY, "demo");

/** `gatehouse demo token`: somebody to try the demo with. */
export function demoCommand(): Command {
  const token = new Command("token")
    .description("print a bearer token that `gatehouse up` accepts")
    .addOption(new Option("--role <role>", "whose token").choices(DEMO_ROLES).default("manager"))
    .option("--user <id>", "user.id instead of the person's own")
    .option("--customer <id>", "customer_id instead of the person's own")
    .option("--department <name>", "department instead of the person's own")
    .option("--permissions <list>", "permissions, separated by commas, instead of the role's", (text) =>
      text.split(","),
    )
    .option("--expires-in <seconds>", "lifetime; negative: a token that has expired already", wholeNumber)
    .action(async (options: DemoTokenOptions) => {
      const identity = await createDemoIdentity(DEMO_KEYS);
      process.stdout.write(`${await identity.token(options)}\n`);
    });
  return new Command("demo").description("things to try the demo with").addCommand(token);
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("is not a whole number");
  return Number(text);
}
