import assert from "node:assert/strict";
import { authzenApis, type AuthzenSettings } from "../../../../src/authorizers/authzen/index.ts";
import { authzenDoor } from "../../../../src/authorizers/authzen/evaluate.ts";
import type { SearchDependencies } from "../../../../src/authorizers/authzen/search.ts";
import { GIVEN_UP, type DecisionPoint } from "../../../../src/decision/point/index.ts";
import type { AccessRequest } from "../../../../src/decision/types.ts";
import { snapshotOf, type useIssuer } from "../../../decision/support.ts";
import { useServedDoors } from "../../../decision/point/support/served-doors.ts";

export const POLICIES = snapshotOf(`
policies:
  - { resource: "GET /documents/{id}", condition: path.id != "2" }
  - { resource: "PUT /documents/{id}", condition: user.role == "editor" }
  - { resource: "GET /", condition: "true" }
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /closed", condition: "false" }
  - { resource: "* /caf\u00e9 x", condition: exists(user.id) }
  - { resource: "GET /masked", condition: "true" }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: user.role == "admin", action: remove }]
`);
export const SETTINGS: AuthzenSettings = {
  url: "https://pdp.example.com",
  actions: { read: "GET", edit: "PUT" },
  resources: { document: "/documents/{id}" },
  subjects: ["user"],
  subjectSources: {},
  customers: false,
};
export const subject = { type: "user", id: "alice@example.com" };

/** Serves the paths of the Authorization API over a real decision point. */
export function useAuthzen(idp: ReturnType<typeof useIssuer>) {
  const serve = useServedDoors(idp);

  return (
    policies = POLICIES,
    settings: Partial<AuthzenSettings> | { url: undefined } = {},
    more: {
      readonly decide?: DecisionPoint["decide"];
      readonly listSubjects?: SearchDependencies["listSubjects"];
    } = {},
  ) => {
    const { url, ...rest } = { ...SETTINGS, ...settings };
    const whole = { ...rest, ...(url !== undefined && { url }) };
    const { decide, listSubjects = () => undefined } = more;
    const { dependencies, recorded } = serve(authzenDoor(whole), {
      policies,
      ...(decide && { point: (point: DecisionPoint) => Object.assign(point, { decide }) }),
    });
    const tried: string[] = [];
    const trial = {
      decide: (access: AccessRequest) => {
        tried.push(`${access.raw.method} ${access.raw.target}`);
        return dependencies.point.decide(access);
      },
    };
    const apis = new Map(
      authzenApis(whole, { ...dependencies, trial, snapshot: () => policies, listSubjects }),
    );
    const ask = async (
      path: string,
      body: unknown,
      {
        headers = [["content-type", "application/json"]] as readonly (readonly [string, string])[],
        deadline = Number.POSITIVE_INFINITY,
      } = {},
    ) => {
      const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
      const answer = await apis.get(path)?.answer({ headers, body: bytes }, { deadline });
      assert.ok(answer !== undefined && answer !== GIVEN_UP, path);
      const isJson = answer.headers.some(([, value]) => value === "application/json");
      return { ...answer, json: (isJson ? JSON.parse(answer.body) : undefined) as never };
    };
    return { ask, recorded, apis, tried };
  };
}
