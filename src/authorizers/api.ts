import type { ServingDependencies } from "../decision/point/index.ts";
import { andThen } from "../decision/promise-or-value.ts";
import { refusal, type HttpAnswer } from "./answer.ts";
import { authzenApis, type AuthzenSettings } from "./authzen/index.ts";
import type { SearchDependencies } from "./authzen/search.ts";
import { createAskAws, type AwsAnswer, type AwsSettings } from "./aws/index.ts";
import type { Api, HttpApis } from "./http-api.ts";
import { readJson } from "./read-json.ts";

export interface ApiSettings {
  readonly aws: AwsSettings;
  readonly authzen: AuthzenSettings;
}

/** @returns every API of the service */
export function createHttpApis(
  { aws, authzen }: ApiSettings,
  serving: ServingDependencies & SearchDependencies,
): HttpApis {
  return new Map([[AWS_PATH, awsApi(aws, serving)], ...authzenApis(authzen, serving)]);
}

export const AWS_PATH = "/aws";
const JSON_TYPE = ["content-type", "application/json"] as const;
/** API Gateway takes 10 KB of headers and 8 KB of a path; an event has each of them twice. */
const AWS_MOST_BYTES = 256 * 1024;

/** The function of an authorizer sends its event, and answers with what it gets; with 401 or 500, it fails. */
function awsApi(settings: AwsSettings, serving: ServingDependencies): Api {
  const ask = createAskAws(settings, serving);
  return {
    method: "POST",
    mostBytes: AWS_MOST_BYTES,
    answer: ({ body }, call) => {
      const event = readJson(body);
      if (!event.ok) return refusal(400, event.error);
      return andThen(ask(event.value, call), httpAnswerOf);
    },
  };
}

function httpAnswerOf(answer: AwsAnswer): HttpAnswer {
  if (answer.kind === "answer")
    return { status: 200, headers: [JSON_TYPE], body: JSON.stringify(answer.document) };
  return refusal(answer.message === "Unauthorized" ? 401 : 500, answer.message);
}
