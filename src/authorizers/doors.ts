import {
  serveDoor,
  type DoorCall,
  type GIVEN_UP,
  type ServingDependencies,
} from "../decision/point/index.ts";
import type { PromiseOrValue } from "../decision/promise-or-value.ts";
import type { HttpAnswer } from "./answer.ts";
import { nginx } from "./nginx.ts";
import type { SubRequest } from "./sub-request.ts";

type Ask = (message: SubRequest, call: DoorCall) => PromiseOrValue<HttpAnswer | typeof GIVEN_UP>;

/** By path of the sub-request. */
export type HttpDoors = ReadonlyMap<string, Ask>;

/** @returns every HTTP door: one path each */
export function createHttpDoors(serving: ServingDependencies): HttpDoors {
  return new Map([["/nginx", serveDoor(nginx, serving)]]);
}
