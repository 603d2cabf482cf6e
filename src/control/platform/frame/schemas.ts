import * as z from "zod";
import { idPattern, type IdKind } from "../ids.ts";

/** An id in a path or a body. */
export function idOf(kind: IdKind) {
  return z.string().regex(idPattern(kind), "is not a valid id of this kind");
}

/**
 * An id in a path: whatever text it is, what has no such id is answered 404 like what is gone, never 400, so that the
 * answer tells nothing more.
 */
export function pathId() {
  return z.string().min(1).max(128);
}

/** A time in an answer. */
export function timestamp() {
  return z
    .preprocess((value) => (value instanceof Date ? value.toISOString() : value), z.iso.datetime())
    .meta({ type: "string", format: "date-time" });
}

/** A name that people give: one line of visible text. */
export function nameText(max = 200) {
  return z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), "must not contain control characters");
}

/** A filter of lists of what has a name. */
export function nameFilter() {
  return z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "The beginning of the name, in upper or lower case." });
}

/** Text of several lines. */
export function longText(max = 2000) {
  return z.string().max(max, `must have at most ${max} characters`);
}

/** RFC 5321, as far as one can tell without sending mail; compared in lower case. */
export function emailAddress() {
  return z
    .email("must be an e-mail address")
    .max(254)
    .transform((value) => value.toLowerCase())
    .meta({ type: "string", format: "email" });
}

/** Any of these members, and at least one of them: the body of an update. */
export function someOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .strictObject(shape)
    .partial()
    .refine((members) => Object.keys(members).length > 0, {
      error: "must have at least one member",
      // what is wrong already is told already
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ minProperties: 1 });
}

/** Any number that a body may hold (`parseJsonBody`); a schema says so to whoever reads the documentation. */
export function anyNumber() {
  return z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
}

/** Free members that a customer keeps with a resource: names to texts, numbers, booleans. Bounded. */
export function metadata() {
  const value = z.union([z.string().max(500), anyNumber(), z.boolean(), z.null()]);
  return z
    .record(z.string().min(1).max(64), value)
    .refine((members) => Object.keys(members).length <= 50, "must have at most 50 members");
}
