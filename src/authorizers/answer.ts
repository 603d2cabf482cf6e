import type { Encoder } from "../decision/point/index.ts";

/** The response to a proxy's sub-request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/**
 * To nginx every 2xx is a permit, so a denial never has one: the answer to a CORS preflight is a denial with such
 * a status.
 *
 * @param statusOf - the status with which the proxy refuses, for that of the denial
 */
export function encoder(statusOf: (status: number) => number): Encoder<HttpAnswer> {
  return {
    permit: (_permit, { access }, { headers, plan }) => {
      if (plan !== undefined) throw new Error("a plan cannot be sent to this proxy");
      for (const [name] of headers.set)
        if (!OVERWRITTEN.has(name) && access.raw.headers.some(([sent]) => sent === name))
          throw new Error(`the proxy may not replace the client's ${name}`);
      return { status: 200, headers: headers.set, body: "" };
    },
    denial: (_denial, _check, { status, headers, body }) => {
      const sent = statusOf(status);
      if (!(sent >= 400 && sent <= 599)) throw new Error(`${sent} is not a denial`);
      return { status: sent, headers, body };
    },
    lastResort: { status: 500, headers: [], body: "" },
  };
}

/** The proxy's configuration sets these for the application. */
const OVERWRITTEN = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);
