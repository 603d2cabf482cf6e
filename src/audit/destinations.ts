import { controlPlaneDestination } from "./control-plane-destination.ts";
import { fileDestination } from "./file-destination.ts";
import { stdoutDestination } from "./stdout-destination.ts";

/** Every kind of destination, by its name in `audit.destination`. */
export const DESTINATIONS = {
  stdout: stdoutDestination,
  file: fileDestination,
  control_plane: controlPlaneDestination,
} as const;
export type DestinationName = keyof typeof DESTINATIONS;

/** The keys of all kinds. */
export type DestinationKeys = Intersection<(typeof DESTINATIONS)[DestinationName]["keys"]>;

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/**
 * @returns the keys of all kinds together.
 * @throws Error if two have one with the same name
 */
export function destinationKeys(): DestinationKeys {
  const all = Object.values(DESTINATIONS).flatMap(({ keys }) => Object.entries(keys));
  const keys = Object.fromEntries(all);
  if (Object.keys(keys).length < all.length) throw new Error("two destinations have a key of the same name");
  return keys as DestinationKeys;
}
