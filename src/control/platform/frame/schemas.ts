import * as z from "zod";
import { idPattern, type IdKind } from "../ids.ts";

/** An id in a path or a body. */
export function idOf(kind: IdKind) {
  return z.string().regex(idPattern(kind), "is not a valid id of this kind");
}

/**
 * An id in a path. Any text is accepted, and one that is not a valid id is answered with 404 like a missing resource,
 * never with 400, so that the answer reveals nothing more.
 */
export function pathId() {
  return z.string().min(1).max(128);
}

/** A time in a response. */
export function timestamp() {
  return z
    .preprocess((value) => (value instanceof Date ? value.toISOString() : value), z.iso.datetime())
    .meta({ type: "string", format: "date-time" });
}

/** Who did something: a key, a dashboard user, a machine or nobody in particular. */
export const actorReference = z
  .object({ kind: z.string(), id: z.string(), name: z.string().optional() })
  .meta({ id: "ActorReference" });

/** A name given by people: one line of visible text. */
export function nameText(max = 200) {
  return z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), "must not contain control characters");
}

/** A filter for lists of named resources. */
export function nameFilter() {
  return z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "The beginning of the name, in upper or lower case." });
}

/** Multi-line text. */
export function longText(max = 2000) {
  return z.string().max(max, `must have at most ${max} characters`);
}

/** RFC 5321, as far as that can be checked without sending mail; compared in lower case. */
export function emailAddress() {
  return z
    .email("must be a valid e-mail address")
    .max(254)
    .transform((value) => value.toLowerCase())
    .meta({ type: "string", format: "email" });
}

/** Any of these members, but at least one: the body of an update. */
export function someOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .strictObject(shape)
    .partial()
    .refine((members) => Object.keys(members).length > 0, {
      error: "must have at least one member",
      // another problem has already been reported
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ minProperties: 1 });
}

/**
 * Any number that a body may contain (`parseJsonBody`); the schema states the limits for readers of the documentation.
 */
export function anyNumber() {
  return z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
}

/** Free-form members that a customer stores with a resource: names to strings, numbers, booleans. Limited in size. */
export function metadata() {
  const value = z.union([z.string().max(500), anyNumber(), z.boolean(), z.null()]);
  return z
    .record(z.string().min(1).max(64), value)
    .refine((members) => Object.keys(members).length <= 50, "must have at most 50 members");
}
