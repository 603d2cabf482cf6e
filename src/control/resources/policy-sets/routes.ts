import type { ControlContext } from "../../platform/context.ts";
import { haveSeveralProviders } from "../../tenancy/idp.ts";
import { readPage } from "../../platform/frame/list.ts";
import {
  created,
  ok,
  page,
  readRoute,
  writeRoute,
  type Answer,
  type Route,
} from "../../platform/frame/route.ts";
import type { PolicySetCompiler } from "./compiler.ts";
import {
  activateBody,
  BODY_BYTES,
  policySetData,
  policySetParams,
  policySetsQuery,
  publishBody,
  validateBody,
  validationData,
  versionData,
  versionParams,
  versionsQuery,
  versionWithFilesData,
} from "./schemas.ts";
import {
  activate,
  policySetEtag,
  presentPolicySet,
  publish,
  requirePolicySet,
  requireValid,
  requireVersion,
  rollBack,
} from "./service.ts";
import { policySets, type PolicySetOverview, type VersionRow } from "./store.ts";
import type { Knex } from "knex";

const common = { tag: "Policy sets", group: "management", tenancy: "all" } as const;

const COLUMNS = {
  id: "sets.name",
  name: "sets.name",
  created_at: "sets.created_at",
  updated_at: "sets.updated_at",
};
const VERSION_COLUMNS = { id: "version", version: "version", published_at: "published_at" };
/** Everything except the files, which may be large. */
const VERSION_FIELDS = ["name", "version", "digest", "rules", "diagnostics", "published_at", "published_by"];

/** Policy sets and their versions. */
export function policySetRoutes({ db }: ControlContext, compile: PolicySetCompiler): Route[] {
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets",
      operation: "listPolicySets",
      summary: "List policy sets",
      permission: "read",
      query: policySetsQuery,
      answers: { 200: policySetData.array() },
      paginated: true,
      async read({ query }) {
        const { rows, total } = await readPage<PolicySetOverview>(policySets(db), query, COLUMNS);
        return page(rows.map(presentPolicySet), { ...query, total });
      },
    }),
    readRoute({
      ...common,
      method: "post",
      path: "/policy-sets/validate",
      operation: "validatePolicySet",
      summary: "Validate a policy set",
      description: "Always returns 200 with the findings; nothing is stored.",
      permission: "configure",
      body: validateBody,
      bodyLimit: BODY_BYTES,
      answers: { 200: validationData },
      async read({ body: { name, files } }) {
        const severalProviders = await haveSeveralProviders(db);
        const task = { files, severalProviders, ...(name !== undefined && { name }) };
        const { set, ...found } = await compile(task);
        return ok({ valid: set !== undefined, ...set, ...found });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets",
      operation: "publishPolicySet",
      summary: "Publish a version of a policy set",
      description:
        "The version comes from the set's head (`v0` by default). A version never changes: publishing the same content again returns 200 and changes nothing.",
      permission: "configure",
      body: publishBody,
      bodyLimit: BODY_BYTES,
      answers: { 200: versionData, 201: versionData },
      errors: ["POLICY_SET_INVALID", "VERSION_IMMUTABLE"],
      prepare: async ({ body: { name, files } }) => {
        const severalProviders = await haveSeveralProviders(db);
        return requireValid(await compile({ name, files, severalProviders }), files);
      },
      async write({ body }, unit, set) {
        const isNew = await publish(unit, set, body);
        const { name, version } = set;
        const data = await presentVersion(unit.trx, await requireVersion(unit.trx, name, version));
        return isNew
          ? created(data, { location: `/v1/policy-sets/${name}/versions/${encodeURIComponent(version)}` })
          : ok(data);
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets/{name}",
      operation: "getPolicySet",
      summary: "Read a policy set",
      permission: "read",
      params: policySetParams,
      answers: { 200: policySetData },
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND"],
      read: ({ params }) => answerSet(db, params.name),
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets/{name}/versions",
      operation: "listPolicySetVersions",
      summary: "List the versions of a policy set",
      permission: "read",
      params: policySetParams,
      query: versionsQuery,
      answers: { 200: versionData.array() },
      paginated: true,
      errors: ["POLICY_SET_NOT_FOUND"],
      async read({ params: { name }, query }) {
        const { activated } = await requirePolicySet(db, name);
        const versions = db("policy_set_versions").where({ name }).select(VERSION_FIELDS);
        const { rows, total } = await readPage<VersionRow>(versions, query, VERSION_COLUMNS);
        return page(
          rows.map((row) => ({ ...row, active: row.version === activated.at(-1) })),
          { ...query, total },
        );
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets/{name}/versions/{version}",
      operation: "getPolicySetVersion",
      summary: "Read a version of a policy set, with its files",
      permission: "read",
      params: versionParams,
      answers: { 200: versionWithFilesData },
      errors: ["POLICY_SET_NOT_FOUND"],
      read: async ({ params: { name, version } }) =>
        ok(await presentVersion(db, await requireVersion(db, name, version))),
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets/{name}/activate",
      operation: "activatePolicySet",
      summary: "Activate a version of a policy set",
      permission: "configure",
      params: policySetParams,
      body: activateBody,
      answers: { 200: policySetData },
      ifMatch: true,
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND"],
      async write(call, unit) {
        const { name } = call.params;
        await activate(unit, name, call.body.version, call);
        return answerSet(unit.trx, name);
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets/{name}/rollback",
      operation: "rollBackPolicySet",
      summary: "Roll back to the previous version",
      description:
        "Undoes the last activation; if repeated, the one before it. 409 if no other version was active before.",
      permission: "configure",
      params: policySetParams,
      answers: { 200: policySetData },
      ifMatch: true,
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND", "CONFLICT"],
      async write(call, unit) {
        const { name } = call.params;
        await rollBack(unit, name, call);
        return answerSet(unit.trx, name);
      },
    }),
  ];
}

async function answerSet(db: Knex, name: string): Promise<Answer> {
  const row = await requirePolicySet(db, name);
  return ok(presentPolicySet(row), { etag: policySetEtag(row) });
}

async function presentVersion(db: Knex, row: VersionRow): Promise<object> {
  const { activated } = await requirePolicySet(db, row.name);
  return { ...row, active: row.version === activated.at(-1) };
}
