import * as z from "zod";
import { listQuery } from "../../platform/frame/list.ts";
import { actorReference, timestamp } from "../../platform/frame/schemas.ts";

const MAX_FILES = 200;
/** JSON may take more bytes than the text in it. */
export const BODY_BYTES = 6 * 1024 * 1024;

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const labelHint = "must be at most 100 letters, digits, `.`, `_` and `-`, starting with a letter or digit";
const FILE = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:ya?ml|graphqls?|gql|json)$/;

const file = z
  .strictObject({
    name: z
      .string()
      .max(200)
      .regex(
        FILE,
        "must be a relative path such as `main.yaml`, `schema.graphql` for a GraphQL schema, or `documents.json` for its documents",
      ),
    text: z.string(),
  })
  .meta({ id: "PolicyFile" });

const files = z
  .array(file)
  .min(1)
  .max(MAX_FILES)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "two files have the same name");

export const validateBody = z
  .strictObject({ name: z.string().regex(LABEL, labelHint).optional(), files })
  .meta({ id: "PolicySetToValidate" });

export const publishBody = z
  .strictObject({
    name: z.string().regex(LABEL, labelHint),
    files,
    activate: z.boolean().default(true),
  })
  .meta({ id: "NewPolicySetVersion" });

export const activateBody = z
  .strictObject({ version: z.string().min(1).max(200) })
  .meta({ id: "PolicySetActivation" });

export const policySetParams = z.strictObject({ name: z.string().min(1).max(128) });
export const versionParams = z.strictObject({
  name: z.string().min(1).max(128),
  version: z.string().min(1).max(200),
});

export const policySetsQuery = listQuery(["created_at", "updated_at", "name"], {});
export const versionsQuery = listQuery(["published_at", "version"], {});

const diagnostic = z
  .object({
    severity: z.enum(["error", "warning"]),
    code: z.string(),
    message: z.string(),
    file: z.string(),
    line: z.int(),
    column: z.int(),
    length: z.int(),
    hint: z.string().optional(),
  })
  .meta({ id: "Diagnostic" });

export const validationData = z
  .object({
    valid: z.boolean(),
    name: z.string().optional(),
    version: z.string().optional(),
    digest: z.string().optional(),
    rules: z.int().optional(),
    diagnostics: z.array(diagnostic),
    rendered: z.string().describe("the diagnostics as the command line prints them"),
  })
  .meta({ id: "PolicySetValidation" });

export const policySetData = z
  .object({
    name: z.string(),
    active_version: z.string().nullable().describe("what gateways enforce"),
    active_digest: z.string().nullable(),
    activated_at: timestamp().nullable(),
    previous_version: z.string().nullable().describe("the version that a rollback activates"),
    versions: z.int().describe("the number of published versions"),
    rollout: z
      .object({
        id: z.string(),
        version: z.string(),
        mode: z.enum(["shadow", "enforce"]),
        percentage: z.int().describe("of the callers for whom the candidate decides"),
      })
      .nullable()
      .describe("the rollout that runs"),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: "PolicySet" });

export const versionData = z
  .object({
    name: z.string(),
    version: z.string(),
    digest: z.string().describe("sha256 of the set's meaning, without layout and comments"),
    rules: z.int(),
    active: z.boolean(),
    diagnostics: z.array(diagnostic).describe("warnings"),
    published_at: timestamp(),
    published_by: actorReference,
  })
  .meta({ id: "PolicySetVersion" });

export const versionWithFilesData = versionData
  .extend({
    files: z.array(z.object({ name: z.string(), text: z.string() })),
  })
  .meta({ id: "PolicySetVersionWithFiles" });
