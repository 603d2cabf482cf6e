import type { ConditionCheck } from "../types.ts";
import { absentHeader } from "./absent-header.ts";
import { anyValue } from "./any-value.ts";
import { booleanParts } from "./boolean-parts.ts";
import { canonicalSpelling } from "./canonical-spelling.ts";
import { comparableTypes } from "./comparable-types.ts";
import { constantParts } from "./constant-parts.ts";
import { exactIntegers } from "./exact-integers.ts";
import { knownMembers } from "./known-members.ts";
import { knownRoots } from "./known-roots.ts";
import { listMembership } from "./list-membership.ts";
import { fieldArguments } from "./field-arguments.ts";
import { pathCase } from "./path-case.ts";
import { pathParameters } from "./path-parameters.ts";
import { stringMethods } from "./string-methods.ts";
import { uniqueEntries } from "./unique-entries.ts";

/** All checks. Findings at the same position are reported in this order. */
export const RULES: readonly ConditionCheck[] = [
  knownRoots,
  pathParameters,
  fieldArguments,
  knownMembers,
  comparableTypes,
  canonicalSpelling,
  absentHeader,
  listMembership,
  stringMethods,
  booleanParts,
  exactIntegers,
  constantParts,
  uniqueEntries,
  anyValue,
  pathCase,
];
