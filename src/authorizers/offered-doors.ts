import { AWS_PATH } from "./api.ts";
import { AUTHZEN_PATHS } from "./authzen/index.ts";
import { SUB_REQUEST_DOORS } from "./doors.ts";

/** Every door of the service over HTTP, by the name in `authz.http_doors`. */
export type HttpDoorName = keyof typeof SUB_REQUEST_DOORS | "aws" | "authzen";

/** The paths of each door. */
export const HTTP_DOOR_PATHS: Readonly<Record<HttpDoorName, readonly string[]>> = {
  nginx: [SUB_REQUEST_DOORS.nginx.path],
  caddy: [SUB_REQUEST_DOORS.caddy.path],
  traefik: [SUB_REQUEST_DOORS.traefik.path],
  "envoy-http": [SUB_REQUEST_DOORS["envoy-http"].path],
  aws: [AWS_PATH],
  authzen: AUTHZEN_PATHS,
};

/** @returns what is at the paths of these doors, of all that there is */
export function atDoors<Entry>(
  all: ReadonlyMap<string, Entry>,
  doors: readonly HttpDoorName[],
): ReadonlyMap<string, Entry> {
  const offered = new Set(doors.flatMap((name) => HTTP_DOOR_PATHS[name]));
  return new Map([...all].filter(([path]) => offered.has(path)));
}

/** Doors with callers of their own. */
export type DoorCallers = Readonly<Partial<Record<HttpDoorName, readonly string[]>>>;

/** @returns by path of a door: who of all callers may use it; absent: each of them */
export function callersByPath(doorCallers: DoorCallers): ReadonlyMap<string, readonly string[]> {
  const names = Object.keys(doorCallers) as (keyof DoorCallers)[];
  return new Map(
    names.flatMap((name) => HTTP_DOOR_PATHS[name].map((path) => [path, doorCallers[name] ?? []] as const)),
  );
}
