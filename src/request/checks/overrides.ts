import type { Finder } from "./check.ts";
import type { Reading } from "../reading.ts";
import { foldName, hasParameter } from "./query.ts";

const METHOD_HEADERS = ["x-http-method-override", "x-http-method", "x-method-override"] as const;
const METHOD_PARAMETERS: ReadonlySet<string> = new Set(["_method", "x-http-method-override"]);

/**
 * Headers and parameters that make Rails, Laravel, Symfony, ASP.NET, Spring or Express middleware use a method other
 * than the one checked.
 */
export const methodOverride: Finder = (reading) => {
  const header = METHOD_HEADERS.find((name) => reading.headers.byName[name] !== undefined);
  if (header !== undefined) return `the header \`${header}\``;
  return hasParameter(reading, METHOD_PARAMETERS) ? "a query parameter that overrides the method" : undefined;
};

/** The methods that an application may use instead. */
export function methodOverrides({ headers: { byName }, decoded }: Reading): readonly string[] {
  const sent = METHOD_HEADERS.flatMap((name) => byName[name] ?? []);
  const parameters = decoded().parameters.filter(([name]) => METHOD_PARAMETERS.has(foldName(name)));
  const methods = [...sent, ...parameters.map(([, value]) => value)].flatMap((value) => value.split(","));
  return [...new Set(methods.map((method) => method.trim().toUpperCase()).filter((method) => method !== ""))];
}

const PATH_HEADERS = ["x-original-url", "x-rewrite-url"] as const;

/** Headers that make IIS, Symfony or Zend use a path other than the one checked. */
export const pathOverride: Finder = ({ headers: { byName } }) => {
  const header = PATH_HEADERS.find((name) => byName[name] !== undefined);
  return header && `the header \`${header}\``;
};
