import type { Encoder } from "../decision/point/index.ts";

/** The response to a proxy's sub-request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface Statuses {
  /** The status with which the proxy refuses, for that of the denial. */
  readonly of: (status: number) => number;
  /** For when even a denial cannot be encoded. */
  readonly lastResort: number;
  /** The permit has every header that it might have, empty if it has no value. */
  readonly everyHeader?: true;
}

/**
 * To most proxies every 2xx is a permit, so a denial never has one: the answer to a CORS preflight is a denial with such
 * a status.
 */
export function encoder({ of, lastResort, everyHeader }: Statuses): Encoder<HttpAnswer> {
  return {
    permit: (_permit, _check, { headers: { set, remove }, plan }) => {
      if (plan !== undefined) throw new Error("a plan cannot be sent to this proxy");
      const empty = everyHeader === true ? remove.map((name) => [name, ""] as const) : [];
      return { status: 200, headers: [...set.map(inBytes), ...empty], body: "" };
    },
    denial: (_denial, _check, { status, headers, body }) => {
      const sent = of(status);
      if (!(sent >= 400 && sent <= 599)) throw new Error(`${sent} is not a denial`);
      return { status: sent, headers, body };
    },
    lastResort: { status: lastResort, headers: [], body: "" },
  };
}

/** An answer in place of one to a request for a decision. */
export function refusal(status: number, error: string): HttpAnswer {
  return { status, headers: [["content-type", "application/json"]], body: JSON.stringify({ error }) };
}

/** Applications get UTF-8, as from Envoy; Node sends one byte a character. */
function inBytes([name, value]: readonly [string, string]): readonly [string, string] {
  return [name, Buffer.from(value, "utf8").toString("latin1")];
}

/** For proxies that deliver any denial as it is: only what they take for a permit or a redirect is replaced. */
export function delivered(status: number): number {
  return status >= 400 && status <= 599 ? status : 403;
}
