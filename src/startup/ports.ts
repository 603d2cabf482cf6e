import { createServer } from "node:net";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import { hostPort } from "./host-port.ts";
import { portHolder } from "./port-holder.ts";

/** Where somebody wants to listen. */
export interface WantedPort {
  /** The key of the configuration. */
  readonly setting: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/** An Envoy whose supervisor was killed ends by itself within so many ms. */
const LEFT_OVER_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/**
 * Tries whether a port is free, for a process that is started later and would say so less clearly. Envoy shares its port with
 * every process of the same user that wants to (SO_REUSEPORT), and two gateways would take turns.
 *
 * @throws Error of one line: which setting, which address, and who has it
 */
export async function assertPortIsFree(wanted: WantedPort): Promise<void> {
  if (wanted.port === 0) return;
  const giveUp = performance.now() + LEFT_OVER_MS;
  for (;;) {
    const error = await whyNot(wanted);
    if (error === undefined) return;
    const isLeftOver = (await portHolder(wanted.host, wanted.port))?.name.startsWith("envoy") === true;
    if (!isLeftOver || performance.now() >= giveUp) throw await cannotListen(wanted, error);
    await sleep(LOOK_AGAIN_MS);
  }
}

async function whyNot({ host, port }: WantedPort): Promise<unknown> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    return error;
  }
  await new Promise((resolve) => server.close(resolve));
  return undefined;
}

/** @returns the error of `listen` in one line for people; an error that is about something else as it is */
export async function cannotListen({ setting, host, port }: WantedPort, error: unknown): Promise<unknown> {
  const code = errorCode(error);
  const address = hostPort(host, port);
  const say = (text: string) => new Error(`${setting}: ${text}`, { cause: error });
  if (code === "EADDRINUSE") {
    const holder = await portHolder(host, port);
    const who = holder === undefined ? "" : ` by \`${holder.name}\` (process ${holder.pid})`;
    return say(`${address} is in use${who}; stop that, or set another port`);
  }
  if (code === "EACCES") return say(`this user may not listen on ${address}; set a port from 1024 on`);
  if (code === "EADDRNOTAVAIL") return say(`${host} is no address of this machine`);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return say(`\`${host}\` is no address, and no name of one`);
  return error;
}
