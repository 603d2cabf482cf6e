import { isList, isObject, type JsonObject, type JsonValue } from "../../json/index.ts";

/** What API Gateway asks an authorizer. */
export type AwsEvent = TokenEvent | RequestEvent;

/** A TOKEN authorizer of a REST API: nothing of the request but its method, its path and one header. */
export interface TokenEvent {
  readonly form: "token";
  readonly arn: string;
  readonly token: string;
}

/** A REQUEST authorizer of a REST API (`rest`) or an HTTP API, by its payload format. */
export interface RequestEvent {
  readonly form: "rest" | "http-1.0" | "http-2.0";
  readonly arn: string;
  readonly method: string;
  readonly path: string;
  /** As the API's address has it: a prefix of the path. */
  readonly stage: string;
  readonly headers: Named;
  readonly query: { readonly raw: string; readonly joined: Named } | { readonly decoded: Named };
  readonly host: string | undefined;
  readonly address: string;
  readonly protocol: string;
  /** Whether the authorizer has identity sources; absent if the event does not say. */
  readonly hasIdentitySources?: boolean;
}

/** Names as sent, each with its values in order. */
export type Named = readonly (readonly [name: string, values: readonly string[]])[];

/**
 * Reads an event of API Gateway.
 *
 * @throws Error that names what is missing or of another type
 */
export function readEvent(event: JsonValue): AwsEvent {
  if (!isObject(event)) throw new Error("the event is not an object");
  const { type, version } = event;
  if (type === "TOKEN")
    return {
      form: "token",
      arn: textOf(event, "methodArn"),
      token: textOf(event, "authorizationToken"),
    };
  if (type !== "REQUEST") throw new Error("the event's `type` is neither TOKEN nor REQUEST");
  if (version === "2.0") return readFormat2(event);
  if (version !== undefined && version !== "1.0") throw new Error("the event's `version` is not known");
  return readFormat1(event, version === undefined ? "rest" : "http-1.0");
}

function readFormat1(event: JsonObject, form: "rest" | "http-1.0"): RequestEvent {
  const context = objectOf(event, "requestContext");
  if (isObject(event["queryStringParameters"]) && !isObject(event["multiValueQueryStringParameters"]))
    throw new Error("the event has no `multiValueQueryStringParameters`");
  return {
    form,
    arn: textOf(event, "methodArn"),
    method: textOf(event, "httpMethod"),
    path: textOf(event, "path"),
    stage: textOf(context, "stage"),
    // `headers` has only the last one of several
    headers: lists(objectOf(event, "multiValueHeaders"), "multiValueHeaders"),
    query: { decoded: lists(optionalObject(event, "multiValueQueryStringParameters"), "query") },
    host: optionalText(context, "domainName"),
    address: textOf(objectOf(context, "identity"), "sourceIp"),
    protocol: textOf(context, "protocol"),
    // an event of a REST API would not have the member at all
    ...(form === "http-1.0" &&
      event["identitySource"] !== undefined && { hasIdentitySources: hasValue(event["identitySource"]) }),
  };
}

function readFormat2(event: JsonObject): RequestEvent {
  const context = objectOf(event, "requestContext");
  const http = objectOf(context, "http");
  const { cookies } = event;
  const joined = texts(cookies ?? [], "cookies").join("; ");
  const headers = singles(objectOf(event, "headers"), "headers");
  return {
    form: "http-2.0",
    arn: textOf(event, "routeArn"),
    method: textOf(http, "method"),
    path: textOf(event, "rawPath"),
    stage: textOf(context, "stage"),
    headers: joined === "" ? headers : [...headers, ["cookie", [joined]]],
    query: {
      raw: textOf(event, "rawQueryString"),
      joined: singles(optionalObject(event, "queryStringParameters"), "queryStringParameters"),
    },
    host: optionalText(context, "domainName"),
    address: textOf(http, "sourceIp"),
    protocol: textOf(http, "protocol"),
    hasIdentitySources: hasValue(event["identitySource"]),
  };
}

function hasValue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === "") return false;
  return !isList(value) || value.length > 0;
}

function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  if (typeof value !== "string") throw new Error(`the event has no text \`${name}\``);
  return value;
}

function optionalText(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return value === undefined || value === null ? undefined : textOf(object, name);
}

function objectOf(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  if (!isObject(value)) throw new Error(`the event has no object \`${name}\``);
  return value;
}

function optionalObject(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return value === undefined || value === null ? {} : objectOf(object, name);
}

function lists(object: JsonObject, what: string): Named {
  return Object.entries(object).map(([name, values]) => [name, texts(values, what)]);
}

function singles(object: JsonObject, what: string): Named {
  return Object.entries(object).map(([name, value]) => [name, texts([value], what)]);
}

function texts(values: JsonValue, what: string): readonly string[] {
  if (!isList(values) || !values.every((value) => typeof value === "string"))
    throw new Error(`\`${what}\` of the event is not made of texts`);
  return values;
}
