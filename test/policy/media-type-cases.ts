import { readFileSync } from "node:fs";
import { load } from "js-yaml";

const read = (name: string): unknown =>
  load(readFileSync(new URL(`../cases/media-type/${name}.yaml`, import.meta.url), "utf8"));

/** Values of Content-Type with what each is taken for; `none` is nothing. */
export const TYPE_CASES: readonly (readonly [value: string, kind: string])[] = Object.entries(
  read("types") as Record<string, readonly string[]>,
).flatMap(([kind, values]) => values.map((value) => [value, kind] as const));

/** Bodies, and whether each may be of its kind. */
export const BODY_CASES: readonly (readonly [kind: "markup" | "data", body: Buffer, fits: boolean])[] =
  Object.entries(
    read("bodies") as Record<"markup" | "data", Record<"fits" | "misleads", readonly string[]>>,
  ).flatMap(([kind, { fits, misleads }]) =>
    [...fits.map((body) => [body, true] as const), ...misleads.map((body) => [body, false] as const)].map(
      ([body, verdict]) => [kind as "markup" | "data", Buffer.from(body, "latin1"), verdict] as const,
    ),
  );
