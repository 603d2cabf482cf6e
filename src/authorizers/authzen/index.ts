import type { DoorCall, ServingDependencies } from "../../decision/point/index.ts";
import type { JsonObject } from "../../json/index.ts";
import type { HttpAnswer } from "../answer.ts";
import type { Api, ApiRequest } from "../http-api.ts";
import { readJson } from "../read-json.ts";
import { createEvaluate } from "./evaluate.ts";
import type { AuthzenSettings } from "./question.ts";
import { createSearch, NotListed, type SearchDependencies } from "./search.ts";
import { BadRequest, objectIn } from "./tuple.ts";

export type { AuthzenSettings } from "./question.ts";

const MOST_BYTES = 1024 * 1024;
const EVALUATION = "/access/v1/evaluation";
const EVALUATIONS = "/access/v1/evaluations";
const SEARCH_RESOURCE = "/access/v1/search/resource";
const SEARCH_ACTION = "/access/v1/search/action";
const SEARCH_SUBJECT = "/access/v1/search/subject";
const METADATA = "/.well-known/authzen-configuration";

export const AUTHZEN_PATHS: readonly string[] = [
  ...[EVALUATION, EVALUATIONS, SEARCH_RESOURCE, SEARCH_ACTION, SEARCH_SUBJECT, METADATA],
];

/** The paths of the Authorization API 1.0 (OpenID AuthZEN). */
export function authzenApis(
  settings: AuthzenSettings,
  serving: ServingDependencies & SearchDependencies,
): readonly (readonly [path: string, api: Api])[] {
  const evaluate = createEvaluate(settings, serving);
  const search = createSearch(settings, serving);
  return [
    [EVALUATION, post(evaluate.one)],
    [EVALUATIONS, post(evaluate.several)],
    [SEARCH_RESOURCE, post(search.resources)],
    [SEARCH_ACTION, post(search.actions)],
    [SEARCH_SUBJECT, search.subjects ? post(search.subjects) : NO_SUBJECTS],
    [METADATA, { method: "GET", mostBytes: 0, answer: (request) => metadataOf(settings, request) }],
  ];
}

function post(handle: (body: JsonObject, call: DoorCall) => Promise<object>): Api {
  const answer = async (request: ApiRequest, call: DoorCall): Promise<HttpAnswer> => {
    try {
      return json(request, await handle(bodyOf(request), call));
    } catch (error) {
      if (error instanceof BadRequest) return text(request, 400, error.message);
      if (error instanceof NotListed) return text(request, 503, error.message);
      throw error;
    }
  };
  return { method: "POST", mostBytes: MOST_BYTES, answer };
}

/** @throws BadRequest */
function bodyOf({ headers, body }: ApiRequest): JsonObject {
  const types = headers.flatMap(([name, value]) => (name === "content-type" ? [value] : []));
  if (types.length !== 1 || !/^application\/json\s*(?:;|$)/i.test(types[0] ?? ""))
    throw new BadRequest("the content type must be application/json");
  const read = readJson(body);
  if (!read.ok) throw new BadRequest(read.error);
  return objectIn(read.value, "the body");
}

const NO_SUBJECTS: Api = {
  method: "POST",
  mostBytes: MOST_BYTES,
  answer: (request) =>
    text(request, 501, "subjects cannot be searched: nothing lists them (authz.authzen.subject_sources)"),
};

function metadataOf({ url, subjectSources }: AuthzenSettings, request: ApiRequest): HttpAnswer {
  if (url === undefined) return text(request, 404, "`authz.authzen.url` is not set");
  return json(request, {
    policy_decision_point: url,
    access_evaluation_endpoint: `${url}${EVALUATION}`,
    access_evaluations_endpoint: `${url}${EVALUATIONS}`,
    search_resource_endpoint: `${url}${SEARCH_RESOURCE}`,
    search_action_endpoint: `${url}${SEARCH_ACTION}`,
    // absent means that there is none
    ...(Object.keys(subjectSources).length > 0 && { search_subject_endpoint: `${url}${SEARCH_SUBJECT}` }),
  });
}

function json(request: ApiRequest, value: object): HttpAnswer {
  return {
    status: 200,
    headers: [["content-type", "application/json"], ...requestIdOf(request)],
    body: JSON.stringify(value),
  };
}

function text(request: ApiRequest, status: number, body: string): HttpAnswer {
  return { status, headers: [["content-type", "text/plain; charset=utf-8"], ...requestIdOf(request)], body };
}

const REQUEST_ID = "x-request-id";

/** The caller's own id of its request, as it came. */
function requestIdOf({ headers }: ApiRequest): HttpAnswer["headers"] {
  const [own, ...more] = headers.flatMap(([name, value]) => (name === REQUEST_ID ? [value] : []));
  return own === undefined || more.length > 0 ? [] : [[REQUEST_ID, own]];
}
