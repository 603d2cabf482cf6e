import type { Door } from "../decision/point/index.ts";
import { encoder, type HttpAnswer } from "./answer.ts";
import { ORIGINAL, originalConnection, originalHost, requestLine } from "./described.ts";
import { checkOf, type SubRequest } from "./sub-request.ts";

/** nginx `auth_request`. The request line comes whole (`$request`): unlike `$uri`, nginx cannot have decoded or merged it. */
export const nginx: Door<SubRequest, HttpAnswer> = {
  decode: (message, call) =>
    checkOf(
      message,
      { ...requestLine(message), host: originalHost(message), ...originalConnection(message) },
      ORIGINAL,
      call,
    ),
  // nginx knows 401 and 403; to any other denial it answers 500
  encode: encoder({ of: (status) => (status === 401 || status >= 500 ? status : 403), lastResort: 500 }),
};
