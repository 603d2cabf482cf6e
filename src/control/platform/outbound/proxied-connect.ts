import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { lookup } from "node:dns/promises";
import * as undici from "undici";
import { isPublicAddress } from "./public-address.ts";
import { hostOf, publicAddresses, type TargetOptions } from "./target.ts";

/** The proxy made no connection. Its code tells this failure from those of the receiver. */
export class EgressProxyFailed extends Error {
  readonly code = "EGRESS_PROXY";
  override readonly name = "EgressProxyFailed";
}

export interface ProxiedOptions extends TargetOptions {
  /** `http://` or `https://`, with the user name and password for it, if it wants any. */
  readonly proxy: string;
  readonly timeoutMs: number;
}

/** Addresses of one name that are tried. */
const MOST_ADDRESSES = 4;

/**
 * How undici connects through a proxy (RFC 9110, section 9.3.6). The name is resolved and checked here, and the proxy is asked for
 * the address: it might resolve the name to one that nobody has checked. Addresses that are not public, where they are
 * permitted, are connected to directly.
 */
export function proxiedConnect(options: ProxiedOptions): undici.buildConnector.connector {
  const { timeoutMs } = options;
  const proxy = new URL(options.proxy);
  const secure = undici.buildConnector({ timeout: timeoutMs, allowH2: false });

  const open = async (hostname: string, port: number): Promise<Socket> => {
    let failure = new Error("the host name cannot be resolved");
    for (const address of (await addressesOf(hostname, options)).slice(0, MOST_ADDRESSES))
      try {
        return await (isPublicAddress(address)
          ? tunnel(proxy, address, port, timeoutMs)
          : direct(address, port, timeoutMs));
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    throw failure;
  };

  return (target, callback) => {
    const isTls = target.protocol === "https:";
    const port = Number(target.port === "" ? (isTls ? 443 : 80) : target.port);
    open(hostOf(target), port).then(
      (socket) => {
        if (isTls) secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
}

async function addressesOf(
  hostname: string,
  { allowPrivate, resolve }: TargetOptions,
): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  if (!allowPrivate) return publicAddresses(hostname, resolve);
  if (resolve !== undefined) return resolve(hostname);
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function tunnel(proxy: URL, address: string, port: number, timeout: number): Promise<Socket> {
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
  const send = proxy.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send({
      ...{ host: hostOf(proxy), method: "CONNECT", path: authority, timeout, agent: false },
      ...(proxy.port !== "" && { port: proxy.port }),
      headers: { host: authority, ...credentialsFor(proxy) },
    });
    const fail = (message: string, cause?: unknown) => {
      reject(new EgressProxyFailed(message, { cause }));
    };
    request.once("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        fail(`the egress proxy answered ${statusCode}`);
        return;
      }
      if (head.length > 0) socket.unshift(head);
      socket.setTimeout(0);
      resolve(socket);
    });
    request.once("timeout", () => request.destroy(new Error("timed out")));
    request.once("error", (error) => {
      fail("the egress proxy cannot be used", error);
    });
    request.end();
  });
}

function credentialsFor({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === "" && password === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

function direct(host: string, port: number, timeout: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port, timeout });
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("timeout", () => socket.destroy(new Error("timed out")));
    socket.once("error", reject);
  });
}
