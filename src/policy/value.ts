import type { JsonList, JsonObject, JsonValue } from "../json/index.ts";

/** A value that a condition can hold or compare: exactly what JSON can say. */
export type Value = JsonValue;
export type ValueList = JsonList;
export type ValueObject = JsonObject;

/**
 * Stands in an attribute's place when its source failed (as opposed to: has no such attribute).
 * Everything that reads it is unknown, `exists()` included.
 */
export const UNAVAILABLE = Symbol("unavailable");

/**
 * What conditions are evaluated over: one entry a root (`user`, `path`, `request`, ...).
 * A root that is absent is missing; members are looked up as own properties only.
 */
export type Attributes = Readonly<Record<string, Value | typeof UNAVAILABLE | undefined>>;

/** Kleene's three truth values. `undefined` is *unknown*. */
export type Verdict = true | false | undefined;
