import * as z from "zod";
import { RESERVED_CLAIMS } from "../../tenancy/reserved-claims.ts";
import { inBackticks } from "../../../text/index.ts";
import { RESERVED_NAMES, attributeName } from "../../tenancy/attributes.ts";
import { ANYTHING, LIST_OF } from "../../tenancy/permit-claims.ts";

const MAX_ENTRIES = 200;
const MAX_ROLES = 20;
const MAX_TEXT = 256;

/** Compared exactly with the provider's values: nothing is trimmed or folded. */
const entry = z
  .string()
  .min(1, "must not be empty")
  .max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`)
  .refine((text) => !/\p{Cc}/u.test(text), "must not contain control characters");

function entries(item: z.ZodType<string>, what: string) {
  return z
    .array(item)
    .max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
    .refine((list) => new Set(list).size === list.length, "must not repeat an entry")
    .refine(
      (list) => list.length === 1 || !list.includes(ANYTHING),
      `must not have other entries next to \`${ANYTHING}\``,
    )
    .nullable()
    .meta({
      description:
        `${what} that are accepted from the customer's identity provider; all others are dropped. \`null\`: none ` +
        `(from the sandbox's own provider: any). \`["${ANYTHING}"]\`: any, on the customer's own authority.`,
    });
}

/** Claims with a list of their own, and claims that no provider can assert. */
const NO_CLAIMS: readonly string[] = [...Object.keys(LIST_OF), ...RESERVED_NAMES];

const claimName = z
  .union([z.literal(ANYTHING), attributeName], {
    error: `must be \`${ANYTHING}\`, or the name of an attribute that is not built in`,
  })
  .refine((name) => !NO_CLAIMS.includes(name), {
    error: `must not be one of ${inBackticks(NO_CLAIMS)}`,
    abort: true,
  })
  .refine((name) => !RESERVED_CLAIMS.has(name), {
    error: "is reserved in access tokens and cannot be an attribute name",
  });

const named = entry.refine((text) => text !== ANYTHING, `must not be \`${ANYTHING}\``);

/** Which claims of a customer's identity provider are accepted. */
export const claimRules = {
  allowed_roles: entries(entry, "Values of `role` and `roles`"),
  allowed_permissions: entries(entry, "Entries of `permissions`"),
  allowed_groups: entries(entry, "Entries of `groups`"),
  allowed_claims: entries(claimName, "Names of further attributes, such as `department`,"),
  role_mapping: z
    .record(
      named.refine((group) => group !== "__proto__", "must not be `__proto__`"),
      z.array(named).min(1).max(MAX_ROLES, `must have at most ${MAX_ROLES} entries`),
    )
    .refine((groups) => Object.keys(groups).length <= MAX_ENTRIES, `must have at most ${MAX_ENTRIES} members`)
    .meta({
      description:
        "Maps groups of the customer's identity provider to roles that their members have here. Neither " +
        "needs to be in the lists above: the mapping defines the roles, and the customer decides who is in a group.",
    }),
};
