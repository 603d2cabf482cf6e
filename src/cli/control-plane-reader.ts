import * as z from "zod";
import { ControlPlaneError, Transport } from "../sync/index.ts";
import type { PolicyFile, ValueObject } from "../policy/index.ts";
import { GATEWAY_ROUTES, MAX_USER_KEY, pathTo, policySetData } from "../protocol/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { errorMessage } from "../text/index.ts";

/** A policy-set version as the control plane returns it. */
export interface PublishedSet {
  readonly version: string;
  readonly files: readonly PolicyFile[];
}

const published = policySetData.pick({ version: true, files: true });
const listedVersions = z.array(z.object({ version: z.string(), digest: z.string() }));
const records = z.array(z.record(z.string(), z.unknown()));

const PAGE = 100;
const LIMITS = { timeoutMs: 10_000, maxBytes: 64 * 1024 * 1024 };

/** What `policy explain` reads from a control plane, with one API key. Every failure is an ExitError that names its cause. */
export class ControlPlaneReader {
  readonly url: string;
  readonly #transport: Transport;

  /** @throws ExitError if the address or the key is not usable */
  constructor(url: string, apiKey: string) {
    this.url = url;
    try {
      this.#transport = new Transport({ url, apiKey });
    } catch (error) {
      throw new ExitError(errorMessage(error), EXIT_USAGE);
    }
  }

  /** @returns the active version, as gateways receive it; `undefined` if there is none */
  async activeSet(name: string): Promise<PublishedSet | undefined> {
    const path = pathTo(GATEWAY_ROUTES.policySet, name);
    try {
      const set = await this.#get(path, published, ["POLICY_SET_NOT_FOUND", "INSUFFICIENT_SCOPE"]);
      return typeof set === "string" ? undefined : set;
    } catch (error) {
      if (!(error instanceof InsufficientScope)) throw error;
    }
    // keys that may read but do not belong to a gateway
    const shown = z.object({ active_version: z.string().nullable() });
    const own = `/policy-sets/${encodeURIComponent(name)}`;
    const set = await this.#get(own, shown, ["POLICY_SET_NOT_FOUND"]);
    if (typeof set === "string" || set.active_version === null) return undefined;
    return this.#version(name, set.active_version);
  }

  /** @returns the version with this content; `undefined` if there is none */
  async setOfDigest(name: string, digest: string): Promise<PublishedSet | undefined> {
    for (let page = 1; ; page += 1) {
      const path = `/policy-sets/${encodeURIComponent(name)}/versions?page=${page}&limit=${PAGE}`;
      const versions = await this.#get(path, listedVersions, ["POLICY_SET_NOT_FOUND"]);
      if (typeof versions === "string") return undefined;
      const found = versions.find((version) => version.digest === digest);
      if (found !== undefined) return this.#version(name, found.version);
      if (versions.length < PAGE) return undefined;
    }
  }

  /** @returns the decision records of one request, or the single record with this id */
  async decisions(id: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const by = id.startsWith("dec_") ? "decision_id" : "request_id";
    const path = `/audit/logs?kind=decision&${by}=${encodeURIComponent(id)}&limit=${PAGE}`;
    const found = await this.#get(path, records, []);
    return typeof found === "string" ? [] : found;
  }

  /** @returns the attributes of a user; `undefined` if there is no such user */
  async user(id: string): Promise<ValueObject | undefined> {
    if (id.length > MAX_USER_KEY || !/^\w+$/.test(id)) return undefined;
    const path = pathTo(GATEWAY_ROUTES.user, id);
    const user = await this.#get(path, z.record(z.string(), z.json()), ["USER_NOT_FOUND"]);
    return typeof user === "string" ? undefined : user;
  }

  close(): void {
    this.#transport.close();
  }

  async #version(name: string, version: string): Promise<PublishedSet | undefined> {
    const path = `/policy-sets/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
    const set = await this.#get(path, published, ["POLICY_SET_NOT_FOUND"]);
    return typeof set === "string" ? undefined : set;
  }

  /** @returns the response, or the error code if it is one of `known` */
  async #get<T>(path: string, schema: z.ZodType<T>, known: readonly string[]): Promise<T | string> {
    try {
      return schema.parse(await this.#transport.call({ path, ...LIMITS }));
    } catch (error) {
      if (!(error instanceof ControlPlaneError))
        throw new ExitError(
          `${this.url} returned an unexpected response; is it a Gatehouse control plane of this version?`,
        );
      const { code, message } = error;
      if (code === "INSUFFICIENT_SCOPE" && known.includes(code)) throw new InsufficientScope();
      if (known.includes(code)) return code;
      throw new ExitError(`${this.url}: ${message} (${code})`);
    }
  }
}

class InsufficientScope extends Error {}
