import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { startDemoApplication } from "../demo/application.ts";
import { describePerson, personOf, type PersonOptions } from "../demo/person.ts";
import { DEMO_ROLES } from "../demo/people.ts";
import { hostPort } from "../startup/index.ts";
import { EXIT_FINDINGS, ExitError } from "./exit.ts";
import { portOption } from "./options.ts";
import { untilSignal } from "./run.ts";

/** Where `up` keeps its data, and where `demo token` looks for it. */
export const DATA_DIRECTORY = ".gatehouse";
/** What `up` writes down for {@link demoCommand}. */
export const UP_FILE = join(DATA_DIRECTORY, "up.json");

/** The sandbox that `up` runs. */
export interface UpState {
  readonly sandbox_url: string;
  /** A file with an API key that has full access to it. */
  readonly api_key_file: string;
  /** The customer that the demo users belong to. */
  readonly customer_id: string;
}

interface TokenOptions extends PersonOptions {
  readonly expiresIn?: number;
}

/** `gatehouse demo token`: an access token of a demo user. */
export function demoCommand(): Command {
  const token = new Command("token")
    .description("sign a demo user in to the sandbox of `gatehouse up` and print the access token")
    .addOption(new Option("--role <role>", "role of the user").choices(DEMO_ROLES).default("manager"))
    .option("--user <id>", "override user.id")
    .option("--customer <id>", "override user.customer_id")
    .option("--department <name>", "override the department")
    .option("--permissions <list>", "override the role's permissions; comma-separated", (text) =>
      text.split(","),
    )
    .option("--expires-in <seconds>", "lifetime; a negative value gives an expired token", wholeNumber)
    .action(async (options: TokenOptions) => {
      process.stdout.write(`${await signIn(options)}\n`);
    });
  return new Command("demo").description("helpers for the demo").addCommand(token).addCommand(application());
}

/** `gatehouse demo application`: the application alone, to put a gateway in front of. */
function application(): Command {
  return new Command("application")
    .description("run the demo application; it has no access control: only a gateway should reach it")
    .option("--port <port>", "port of the application (0: any free port)", portOption, 3000)
    .option("--listen-address <address>", "IP address that it listens on", ipAddress, "127.0.0.1")
    .action(async ({ port, listenAddress: address }: { port: number; listenAddress: string }) => {
      const stopped = untilSignal();
      const running = await startDemoApplication({ port, address });
      process.stdout.write(`gatehouse demo application ready on http://${hostPort(address, running.port)}\n`);
      await stopped;
      await running.close();
    });
}

async function signIn({ expiresIn, ...person }: TokenOptions): Promise<string> {
  const up = await readState();
  const key = (await readFile(up.api_key_file, "utf8")).trim();
  const answer = await fetch(`${up.sandbox_url}/v1/sandbox/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      customer_id: up.customer_id,
      person: describePerson(personOf(person)),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
    }),
  }).catch((cause: unknown) => {
    throw new ExitError(
      `${up.sandbox_url} did not respond; is \`gatehouse up\` running? (${String(cause)})`,
      EXIT_FINDINGS,
    );
  });
  const body = (await answer.json()) as {
    data?: { access_token: string };
    error?: { code: string; message: string };
  };
  if (body.data !== undefined) return body.data.access_token;
  throw new ExitError(
    `the sandbox returned an error: ${body.error?.code ?? ""} ${body.error?.message ?? ""}`,
    EXIT_FINDINGS,
  );
}

async function readState(): Promise<UpState> {
  const text = await readFile(UP_FILE, "utf8").catch(() => {
    throw new ExitError(`\`${UP_FILE}\` not found; run \`gatehouse up\` in this folder first`, EXIT_FINDINGS);
  });
  return JSON.parse(text) as UpState;
}

function ipAddress(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError("is not an IP address");
  return text;
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("is not a whole number");
  return Number(text);
}
