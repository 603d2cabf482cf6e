import {
  serveDoor,
  type Door,
  type DoorAbilities,
  type DoorCall,
  type GIVEN_UP,
  type ServingDependencies,
} from "../decision/point/index.ts";
import type { PromiseOrValue } from "../decision/promise-or-value.ts";
import type { HttpAnswer } from "./answer.ts";
import { caddy } from "./caddy.ts";
import { ENVOY_PREFIX, envoyHttp } from "./envoy-http.ts";
import { nginx } from "./nginx.ts";
import { DESCRIPTIONS, type SubRequest } from "./sub-request.ts";
import { traefik } from "./traefik.ts";

type Ask = (message: SubRequest, call: DoorCall) => PromiseOrValue<HttpAnswer | typeof GIVEN_UP>;

/** By path of the sub-request; with a slash at the end, everything below it. */
export type HttpDoors = ReadonlyMap<string, Ask>;

interface HttpDoor {
  readonly path: string;
  readonly door: Door<SubRequest, HttpAnswer>;
}

/** Every door of proxies that ask with a sub-request, by the name that people give it. */
export const SUB_REQUEST_DOORS = {
  nginx: { path: "/nginx", door: nginx },
  caddy: { path: "/caddy", door: caddy },
  traefik: { path: "/traefik", door: traefik },
  "envoy-http": { path: `${ENVOY_PREFIX}/`, door: envoyHttp },
} satisfies Readonly<Record<string, HttpDoor>>;

/** Doors whose callers do not say which protocol the client speaks. */
const WITHOUT_PROTOCOL: ReadonlySet<string> = new Set(["traefik", "authzen"]);

/** What can be said of each door before any request. */
export const DOOR_ABILITIES: Readonly<Record<string, DoorAbilities>> = Object.fromEntries(
  [...Object.keys(SUB_REQUEST_DOORS), "haproxy", "aws", "authzen"].map((name) => [
    name,
    WITHOUT_PROTOCOL.has(name) ? { ...DESCRIPTIONS, hides: new Set(["protocol" as const]) } : DESCRIPTIONS,
  ]),
);

/** @returns every HTTP door: one path each */
export function createHttpDoors(serving: ServingDependencies): HttpDoors {
  return new Map(
    Object.values(SUB_REQUEST_DOORS).map(({ path, door }) => [path, serveDoor(door, serving)] as const),
  );
}
