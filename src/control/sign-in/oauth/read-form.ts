import type { Request } from "express";
import { readParameters, readQuery } from "../../platform/frame/query-string.ts";
import { isType, readBytes } from "../../platform/frame/read-body.ts";
import { OAuthError } from "./oauth-error.ts";

/** Parameters by name, without those that have no value (RFC 6749, section 3.2). */
export type Form = Readonly<Record<string, string>>;

/** Two tokens of maximum length, percent-encoded, with ample room. */
const FORM_LIMIT = 65_536;

/**
 * Parses the parameters of a form (RFC 6749, section 3.2): each at most once, and none in the URL, because URLs are
 * logged (section 2.3.1).
 *
 * @throws OAuthError invalid_request; ApiError like the frame's parsing of bodies
 */
export async function readForm(request: Request): Promise<Form> {
  if (request.originalUrl.includes("?"))
    throw new OAuthError("invalid_request", "parameters must be in the body, not in the URL");
  if (!isType(request.headers["content-type"], "application/x-www-form-urlencoded"))
    throw new OAuthError("invalid_request", "the body must be application/x-www-form-urlencoded in UTF-8");
  // a form is ASCII; other bytes are kept as Latin-1, so that parsing the parameters refuses them
  const text = (await readBytes(request, FORM_LIMIT)).toString("latin1");
  if (!/^[\x21-\x7e]*$/.test(text))
    throw new OAuthError("invalid_request", "the body is not valid percent-encoded UTF-8");
  return withoutEmpty(readParameters(text, "body"));
}

/**
 * Parses the parameters of a query, in the same way.
 * @throws ApiError
 */
export function readQueryForm(request: Request): Form {
  return withoutEmpty(readQuery(request.originalUrl));
}

function withoutEmpty(parameters: Form): Form {
  return Object.freeze(
    Object.assign(
      Object.create(null) as Record<string, string>,
      Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== "")),
    ),
  );
}

/** @throws OAuthError invalid_request */
export function required(form: Form, name: string): string {
  const value = form[name];
  if (value === undefined) throw new OAuthError("invalid_request", `the parameter \`${name}\` is missing`);
  return value;
}
