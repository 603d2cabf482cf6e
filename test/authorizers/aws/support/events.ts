import type { JsonObject, JsonValue } from "../../../../src/json/index.ts";

export type Form = "rest" | "http-1.0" | "http-2.0";
export const FORMS: readonly Form[] = ["rest", "http-1.0", "http-2.0"];

export interface Sent {
  readonly method?: string;
  /** As the client sends it, query included. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly stage?: string;
  /** Of a custom domain. */
  readonly basePath?: string;
  readonly identitySource?: JsonValue;
  /** Members of the event that differ. */
  readonly change?: JsonObject;
}

const ARN = "arn:aws:execute-api:eu-central-1:123456789012:abcdef123";

export const arnOf = (method: string, path: string, stage = "test") => `${ARN}/${stage}/${method}${path}`;

/** The ARN of an event, whatever its form. */
export function askedArn(event: JsonObject): string {
  const arn = event["methodArn"] ?? event["routeArn"];
  return typeof arn === "string" ? arn : "";
}

/** Each name with its values, in order of arrival. */
function grouped(
  pairs: readonly (readonly [string, string])[],
  nameOf = (name: string) => name,
): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [name, value] of pairs) (found[nameOf(name)] ??= []).push(value);
  return found;
}

const last = (values: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.at(-1) ?? ""]));
const joined = (values: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.join(",")]));

/** HTTP APIs decode the path once, and lose what follows an encoded `?`. */
function decodedOnce(path: string): string {
  try {
    return decodeURIComponent(path).replace(/\?.*$/s, "");
  } catch {
    return path;
  }
}

/** The event of an authorizer for a request, as API Gateway writes it. */
export function eventOf(form: Form, sent: Sent): JsonObject {
  const { method = "GET", target, stage = form === "http-2.0" ? "$default" : "test", basePath = "" } = sent;
  const [path = "", ...rest] = target.split("?");
  const raw = rest.join("?");
  const parameters = [...new URLSearchParams(raw)];
  const headers: readonly (readonly [string, string])[] = [
    ["Host", "app.test"],
    ["X-Forwarded-For", "127.0.0.1"],
    ["X-Forwarded-Port", "443"],
    ["X-Forwarded-Proto", "https"],
    ...(sent.headers ?? []),
  ];
  const shown = form === "rest" ? path : decodedOnce(path);
  const arn = arnOf(method, shown, stage);
  const { identitySource = null } = sent;
  const context = { accountId: "123456789012", apiId: "abcdef123", domainName: "app.test", stage };
  if (form === "http-2.0") {
    const byName = grouped(headers, (name) => name.toLowerCase());
    const { cookie, ...others } = byName;
    return {
      version: "2.0",
      type: "REQUEST",
      routeArn: arn,
      identitySource,
      routeKey: "$default",
      rawPath: `${basePath}${stage === "$default" ? "" : `/${stage}`}${shown}`,
      rawQueryString: raw,
      ...(cookie && { cookies: cookie.flatMap((value) => value.split("; ")) }),
      headers: joined(others),
      ...(raw !== "" && { queryStringParameters: joined(grouped(parameters)) }),
      requestContext: {
        ...context,
        http: { method, path: shown, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" },
        requestId: "r-1",
        timeEpoch: 1_583_348_638_390,
      },
      ...sent.change,
    };
  }
  const multi = grouped(headers);
  const query = grouped(parameters);
  return {
    ...(form === "http-1.0" && { version: "1.0", identitySource }),
    type: "REQUEST",
    methodArn: arn,
    resource: "/{proxy+}",
    path: `${basePath}${shown}`,
    httpMethod: method,
    headers: last(multi),
    multiValueHeaders: multi,
    queryStringParameters: parameters.length === 0 ? null : last(query),
    multiValueQueryStringParameters: parameters.length === 0 ? null : query,
    pathParameters: { proxy: path.slice(1) },
    requestContext: {
      ...context,
      path: `/${stage}${shown}`,
      protocol: "HTTP/1.1",
      httpMethod: method,
      requestId: "r-1",
      identity: { sourceIp: "127.0.0.1" },
    },
    ...sent.change,
  };
}

export const tokenEvent = (method: string, path: string, token: string): JsonObject => ({
  type: "TOKEN",
  methodArn: arnOf(method, path),
  authorizationToken: token,
});
