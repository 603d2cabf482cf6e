import { request, type IncomingMessage, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import { connect } from "node:net";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { GatewayConfig } from "../config/index.ts";
import {
  applicationClusters,
  isLocal,
  readConfigDump,
  serviceClusters,
  type Address,
  type EnvoyView,
  type Facts,
  type PolicyNeeds,
} from "../doctor/index.ts";
import { IDENTIFY_FILTER, LUA_FILTERS, luaFilter, luaName } from "../gateway/index.ts";
import { conditionsOfSet, type PolicySetIR } from "../policy/index.ts";
import { errorMessage } from "../text/index.ts";

/** What Envoy has told: its configuration, and by the way its version and clock. */
export interface EnvoyAnswers {
  readonly view: EnvoyView;
  readonly version: string | undefined;
  readonly clocks: Facts["clocks"];
}

const TIMEOUT_MS = 30_000;
/** A mesh of thousands of services has dumps of tens of MB. */
const MAX_DUMP = 512 * 1024 * 1024;

/** Where an admin interface listens: `127.0.0.1:9901`, `http://127.0.0.1:9901`, `unix:/run/admin.sock`. */
export function adminOptions(text: string): RequestOptions {
  const socketPath = /^unix:(.+)$/.exec(text)?.[1];
  if (socketPath !== undefined) return { socketPath };
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) throw new TypeError(`\`${text}\` is not an address such as 127.0.0.1:9901`);
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:") throw new TypeError("the admin interface of Envoy is plain http");
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 80 : Number(port) };
}

/** @throws Error that says what is wrong */
export async function askEnvoy(admin: RequestOptions): Promise<EnvoyAnswers> {
  const asked = Date.now();
  const info = await get({ ...admin, path: "/server_info" });
  const ahead = aheadOf(info.date, asked);
  const dump = await get({ ...admin, path: "/config_dump?include_eds" });
  const { version } = JSON.parse(info.body) as { readonly version?: unknown };
  return {
    view: readDump(dump.body),
    // `<commit>/1.40.0/Clean/RELEASE/BoringSSL`
    version:
      typeof version === "string"
        ? version.split("/").find((part) => /^\d+\.\d+\.\d+/.test(part))
        : undefined,
    clocks: ahead === undefined ? [] : [{ of: "envoy", aheadSeconds: ahead }],
  };
}

/** @throws Error that says what is wrong with the file */
export async function readDumpFile(path: string): Promise<EnvoyView> {
  return readDump(await readFile(path, "utf8"));
}

function readDump(text: string): EnvoyView {
  let dump: unknown;
  try {
    dump = JSON.parse(text);
  } catch {
    throw new TypeError("the config_dump is not JSON; is it complete?");
  }
  return readConfigDump(dump);
}

/** The clock of the control plane, by the Date of an answer of its health page. */
export async function controlPlaneClock(url: string): Promise<Facts["clocks"]> {
  const asked = Date.now();
  const { date } = await get(new URL(`${url.replace(/(?<!\/)\/+$/, "")}/healthz`));
  const ahead = aheadOf(date, asked);
  return ahead === undefined ? [] : [{ of: "control plane", aheadSeconds: ahead }];
}

/** `Date` has whole seconds, and was written between the question and now. */
function aheadOf(date: string | undefined, asked: number): number | undefined {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there)) return undefined;
  const now = Date.now();
  if (there + 1000 < asked) return Math.round((there - asked) / 1000);
  return there > now ? Math.round((there - now) / 1000) : 0;
}

interface Answer {
  readonly body: string;
  readonly date: string | undefined;
}

function get(from: RequestOptions | URL): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
    const take = (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_DUMP) response.destroy(new Error(`the answer is larger than ${MAX_DUMP} bytes`));
        chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200)
          resolve({ body: Buffer.concat(chunks).toString(), date: response.headers.date });
        else reject(new Error(`status ${response.statusCode ?? 0}`));
      });
    };
    const call =
      from instanceof URL
        ? (from.protocol === "https:" ? secureRequest : request)(from, options, take)
        : request({ ...from, ...options }, take);
    call.on("error", reject);
    call.end();
  });
}

/** What a compiled set needs from Envoy. */
export function needsOfSet(ir: PolicySetIR): PolicyNeeds {
  const reads = conditionsOfSet(ir).flatMap(({ condition }) => condition.reads);
  const readsBody = reads.some(
    ([root, member]) => root === "request" && (member === "body" || member === undefined),
  );
  return {
    body: readsBody || ir.graphql.rules.length > 0,
    plans:
      ir.responses.length > 0 ||
      ir.websocket.connections.some(({ messages }) => messages.length > 0) ||
      ir.graphql.rules.some(({ onDeny }) => onDeny === "null"),
  };
}

/**
 * The Lua filters of this release, under the names that routes know.
 *
 * @param directory - another copy of `envoy/lua`
 */
export function luaOfRelease(directory?: string): ReadonlyMap<string, string> {
  const filters = [...LUA_FILTERS, IDENTIFY_FILTER] as const;
  return new Map(filters.map((filter) => [luaName(filter), luaFilter(filter, directory)]));
}

const CONNECT_MS = 1_000;

/**
 * Addresses of applications that answer past Envoy.
 *
 * @param from - `here`: on Envoy's machine, where an application on loopback must not answer at the machine's other addresses;
 *   `client`: where clients are, so no address of an application may answer
 */
export async function reachableApplications(
  view: EnvoyView,
  from: "here" | "client",
): Promise<Facts["reachable"]> {
  const services = serviceClusters(view);
  const outside = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
  );
  const tried = [...applicationClusters(view)]
    .filter((cluster) => !services.has(cluster))
    .flatMap((cluster) =>
      (view.clusters.get(cluster)?.endpoints ?? []).flatMap((address) =>
        elsewhere(address, from, outside).map((other) => ({ cluster, address: other })),
      ),
    );
  const answers = await Promise.all(tried.map(({ address }) => answersAt(address)));
  return tried.filter((_, index) => answers[index]);
}

function elsewhere(
  address: Address,
  from: "here" | "client",
  outside: readonly string[],
): readonly Address[] {
  const { host, port } = address;
  // a Unix socket, or a port that nobody knows yet
  if (host === "" || port === 0) return [];
  if (from === "client") return isLocal(address) ? [] : [address];
  return isLocal(address) ? outside.map((other) => ({ host: other, port })) : [];
}

function answersAt({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.on("connect", () => {
      end(true);
    });
    socket.on("timeout", () => {
      end(false);
    });
    socket.on("error", () => {
      end(false);
    });
  });
}

/** Gathers what may fail, and notes why it has. */
export async function orGap<T>(
  where: string,
  gaps: { where: string; detail: string }[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    gaps.push({ where, detail: errorMessage(error) });
    return undefined;
  }
}

/** The address of the admin interface in gateway.yaml; `undefined` if that is a socket of the gateway's own. */
export function adminOfConfig(config: GatewayConfig | undefined): string | undefined {
  const address = config?.gateway.envoy_admin;
  return address === "off" ? undefined : address;
}
