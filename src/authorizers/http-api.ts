import type { DoorCall, GIVEN_UP } from "../decision/point/index.ts";
import type { PromiseOrValue } from "../decision/promise-or-value.ts";
import type { HttpAnswer } from "./answer.ts";

/** A request that describes in its body, or not at all, what to decide on. */
export interface ApiRequest {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** A path of the service that is no proxy's sub-request. */
export interface Api {
  readonly method: "GET" | "POST";
  readonly mostBytes: number;
  readonly answer: (request: ApiRequest, call: DoorCall) => PromiseOrValue<HttpAnswer | typeof GIVEN_UP>;
}

/** By path. */
export type HttpApis = ReadonlyMap<string, Api>;
