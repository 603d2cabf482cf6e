import type { Encoder } from "../../../../src/decision/point/index.ts";

/** The answer to a sub-request. With status 200 the proxy forwards the request, with these headers in place of its own. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export const encode: Encoder<Answer> = {
  permit: (_permit, _asked, { headers }) => ({ status: 200, headers: headers.set, body: "" }),
  denial: (_denial, _asked, { status, headers, body }) => ({ status, headers, body }),
  lastResort: { status: 500, headers: [], body: "" },
};
