import { createServer } from "node:net";
import { errorCode } from "../runtime/error-code.ts";
import { sleep } from "../runtime/sleep.ts";
import { hostPort } from "./host-port.ts";
import { portHolder } from "./port-holder.ts";

/** An address to listen on. */
export interface WantedPort {
  /** The key of the configuration. */
  readonly setting: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** An Envoy whose supervisor was killed ends by itself within this time. */
const LEFT_OVER_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/**
 * Checks that a port is free for a process that is started later and would report it less clearly. Envoy shares its port with
 * any process of the same user that also sets SO_REUSEPORT; two gateways would each receive part of the connections.
 *
 * @throws Error with a one-line message: the setting, the address, and the process that uses it
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

/** @returns the error of `listen` as one readable line; any other error unchanged */
export async function cannotListen({ setting, host, port }: WantedPort, error: unknown): Promise<unknown> {
  const code = errorCode(error);
  const address = hostPort(host, port);
  const say = (text: string) => new Error(`${setting}: ${text}`, { cause: error });
  if (code === "EADDRINUSE") {
    const holder = await portHolder(host, port);
    const who = holder === undefined ? "" : ` by \`${holder.name}\` (process ${holder.pid})`;
    return say(`${address} is in use${who}; stop that process or set another port`);
  }
  if (code === "EACCES") return say(`permission denied to listen on ${address}; set a port of 1024 or above`);
  if (code === "EADDRNOTAVAIL") return say(`\`${host}\` is not an address of this machine`);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return say(`\`${host}\` is neither an address nor a host name that resolves`);
  return error;
}
