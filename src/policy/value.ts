import type { JsonList, JsonObject, JsonValue } from "../json/index.ts";

/** A value in a condition: exactly what JSON can express. */
export type Value = JsonValue;
export type ValueList = JsonList;
export type ValueObject = JsonObject;

/**
 * The value of an attribute whose source failed, as opposed to one that is missing.
 * Everything that reads it is unknown, including `exists()`.
 */
export const UNAVAILABLE = Symbol("unavailable");

/**
 * The attributes that conditions read: one entry per root (`user`, `path`, `request`, ...). An absent root is missing;
 * only own properties count as members.
 */
export type Attributes = Readonly<Record<string, Value | typeof UNAVAILABLE | undefined>>;

/** Kleene's three truth values. `undefined` is *unknown*. */
export type Verdict = true | false | undefined;
