import type { AttributePath } from "../ir.ts";
import type { UNAVAILABLE, Value } from "../value.ts";
import type { TextRange } from "./text-candidates.ts";

/** What a missing attribute has instead of a value. */
export const MISSING: unique symbol = Symbol("missing");

/** What an attribute may be. NaN represents numbers that are not exact, which equal nothing. */
export type Candidate = Value | typeof MISSING | typeof UNAVAILABLE;

/** Which values an attribute can have. */
export type Domain =
  /** Anything that JSON can express, or missing. */
  | { readonly kind: "any"; readonly unavailable: boolean }
  | { readonly kind: "values"; readonly values: readonly Candidate[] }
  | { readonly kind: "text"; readonly range: TextRange; readonly missing: boolean }
  /** A query parameter or header: missing, or the list of all values that were sent. */
  | { readonly kind: "sent" };

/** What is known about attributes in every request. */
export interface Domains {
  readonly of: (path: AttributePath) => Domain;
}

const ANYTHING: Domain = { kind: "any", unavailable: true };

/** Every attribute may be anything. */
export const UNRESTRICTED: Domains = { of: () => ANYTHING };
