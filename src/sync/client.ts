import type * as z from "zod";
import { isObject } from "../json/index.ts";
import type { ValueObject } from "../policy/index.ts";
import {
  callerData,
  GATEWAY_ROUTES,
  MAX_USER_KEY,
  pathTo,
  policySetData,
  recordsAnswer,
  registrationAnswer,
  rolloutReportAnswer,
  stateAnswer,
  statisticsAnswer,
  type CallerData,
  type GatewayErrorCode,
  type PolicySetData,
  type RecordsAnswer,
  type Registration,
  type RegistrationAnswer,
  type RolloutReport,
  type RolloutReportAnswer,
  type StateAnswer,
  type StatisticsAnswer,
  type StatisticsReport,
} from "../protocol/index.ts";
import { ControlPlaneError } from "./control-plane-error.ts";
import { Transport, type TransportOptions } from "./transport.ts";

const POLICY_SET_TIMEOUT_MS = 5_000;
/** Time allowed for a poll's response beyond its wait; a complete state takes a while. */
const POLL_GRACE_MS = 10_000;
/** A request waits for attribute look-ups. */
const USER_TIMEOUT_MS = 2_000;
/** The last statistics are sent during shutdown. */
const STATISTICS_TIMEOUT_MS = 2_000;
const REGISTRATION_TIMEOUT_MS = 2_000;

const MAX_STATE_BYTES = 256 * 1024 * 1024;
const MAX_POLICY_SET_BYTES = 64 * 1024 * 1024;
const MAX_USER_BYTES = 1024 * 1024;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** The control-plane routes that gateways call, typed. Every method rejects only with a ControlPlaneError. */
export class ControlPlaneClient {
  readonly #transport: Transport;
  /** Earlier releases send a complete state in one answer, and refuse the parameter. */
  #takesPages = true;

  /** @throws TypeError if the address or the key is not usable */
  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
  }

  /**
   * @param after - cursor of the last response; without it the whole state is requested
   * @param waitSeconds - how long the control plane may hold the response until something changes
   */
  async state(after: string | undefined, waitSeconds: number, signal?: AbortSignal): Promise<StateAnswer> {
    const parameters = new URLSearchParams(after === undefined ? {} : { after });
    if (after !== undefined) parameters.set("wait", String(Math.floor(waitSeconds)));
    const ask = () =>
      this.#get(`${GATEWAY_ROUTES.state}?${parameters.toString()}`, stateAnswer, {
        timeoutMs: waitSeconds * 1000 + POLL_GRACE_MS,
        maxBytes: MAX_STATE_BYTES,
        signal,
      });
    // another instance, or another release, may answer the next time
    if (after === undefined) this.#takesPages = true;
    if (this.#takesPages) parameters.set("pages", "true");
    const answer = await ask().catch((error: unknown) => {
      if (!this.#takesPages || !isParameterRefused(error)) throw error;
      this.#takesPages = false;
      parameters.delete("pages");
      return ask();
    });
    if (after === undefined && !answer.complete) throw malformed("expected the whole state");
    // everybody in the rest would have no restrictions
    if (answer.complete && answer.more === true && !parameters.has("pages"))
      throw malformed("expected the state in one answer");
    return answer;
  }

  /** @returns the active version; `undefined` if there is none */
  async policySet(name: string): Promise<PolicySetData | undefined> {
    const limits = { timeoutMs: POLICY_SET_TIMEOUT_MS, maxBytes: MAX_POLICY_SET_BYTES };
    const set = await orAbsent("POLICY_SET_NOT_FOUND", () =>
      this.#get(pathTo(GATEWAY_ROUTES.policySet, name), policySetData, limits),
    );
    if (set !== undefined && set.name !== name) throw malformed("expected a different policy set");
    return set;
  }

  /** @returns a published version; `undefined` if it does not exist */
  async policySetVersion(name: string, version: string): Promise<PolicySetData | undefined> {
    const limits = { timeoutMs: POLICY_SET_TIMEOUT_MS, maxBytes: MAX_POLICY_SET_BYTES };
    const set = await orAbsent("POLICY_SET_NOT_FOUND", () =>
      this.#get(pathTo(GATEWAY_ROUTES.policySetVersion, name, version), policySetData, limits),
    );
    if (set !== undefined && (set.name !== name || set.version !== version))
      throw malformed("expected a different version of a policy set");
    return set;
  }

  /** @returns the user's attributes; `undefined` if there is no such user */
  async user(id: string): Promise<ValueObject | undefined> {
    // a text that cannot be an id is never put into a path
    if (id.length > MAX_USER_KEY || !/^\w+$/.test(id)) return undefined;
    const user = await orAbsent("USER_NOT_FOUND", () =>
      this.#transport.call({
        path: pathTo(GATEWAY_ROUTES.user, id),
        timeoutMs: USER_TIMEOUT_MS,
        maxBytes: MAX_USER_BYTES,
      }),
    );
    if (user === undefined) return undefined;
    if (!isObject(user) || user["id"] !== id) throw malformed("expected a different user");
    return user as ValueObject; // JSON contains only values
  }

  /**
   * @param hash - SHA-256 of the key's text, in hexadecimal digits
   * @returns the caller whom an API key names; `undefined` if there is no such key, or it is not valid
   */
  async caller(hash: string): Promise<CallerData | undefined> {
    const caller = await orAbsent("API_KEY_NOT_FOUND", () =>
      this.#get(pathTo(GATEWAY_ROUTES.caller, hash), callerData, {
        timeoutMs: USER_TIMEOUT_MS,
        maxBytes: MAX_USER_BYTES,
      }),
    );
    if (caller !== undefined && caller.hash !== hash) throw malformed("expected a different API key");
    return caller;
  }

  /**
   * Sends audit records. They may be sent again: the control plane stores each one once.
   *
   * @param lines - records as JSON, one per line
   */
  async records(lines: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<RecordsAnswer> {
    const body = `{"records":[${lines.map((line) => line.trimEnd()).join(",")}]}`;
    const limits = { timeoutMs, maxBytes: MAX_REPLY_BYTES, signal };
    const data = await this.#transport.call({ path: GATEWAY_ROUTES.records, body, ...limits });
    const answer = parsed(recordsAnswer, data);
    const { accepted, duplicates, rejected } = answer;
    if (accepted + duplicates + rejected.length !== lines.length)
      throw malformed("the counts do not add up to the number of records");
    return answer;
  }

  /** Sends a report. It may be sent again. */
  async statistics(report: StatisticsReport): Promise<StatisticsAnswer> {
    const limits = { timeoutMs: STATISTICS_TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES };
    const body = JSON.stringify(report);
    return parsed(
      statisticsAnswer,
      await this.#transport.call({ path: GATEWAY_ROUTES.statistics, body, ...limits }),
    );
  }

  /** Reports what the gateway is and enforces. */
  async register(report: Registration): Promise<RegistrationAnswer> {
    const limits = { timeoutMs: REGISTRATION_TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES };
    const body = JSON.stringify(report);
    return parsed(
      registrationAnswer,
      await this.#transport.call({ path: GATEWAY_ROUTES.registration, body, ...limits }),
    );
  }

  /** Reports what the gateway has seen of a rollout. */
  async rolloutReport(report: RolloutReport): Promise<RolloutReportAnswer> {
    const limits = { timeoutMs: REGISTRATION_TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES };
    const body = JSON.stringify(report);
    return parsed(
      rolloutReportAnswer,
      await this.#transport.call({ path: GATEWAY_ROUTES.rolloutReports, body, ...limits }),
    );
  }

  /** Aborts current calls. */
  close(): void {
    this.#transport.close();
  }

  async #get<T>(
    path: string,
    schema: z.ZodType<T>,
    limits: {
      readonly timeoutMs: number;
      readonly maxBytes: number;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<T> {
    return parsed(schema, await this.#transport.call({ path, ...limits }));
  }
}

function parsed<T>(schema: z.ZodType<T>, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path.map(String).join(".") ?? "";
  throw malformed(`\`${at}\` violates the contract`);
}

async function orAbsent<T>(code: GatewayErrorCode, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ControlPlaneError && error.code === code && error.status === 404) return undefined;
    throw error;
  }
}

function isParameterRefused(error: unknown): boolean {
  return error instanceof ControlPlaneError && error.status === 400 && error.code === "INVALID_PARAMETER";
}

function malformed(message: string): ControlPlaneError {
  return new ControlPlaneError("MALFORMED_ANSWER", message);
}
