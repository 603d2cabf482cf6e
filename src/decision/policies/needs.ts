import { headerNames, memberNames, parameterNames } from "../../names/index.ts";
import type { AttributePath, PolicySetIR } from "../../policy/index.ts";
import type { NamesRead } from "../../request/index.ts";

/** What conditions need for evaluation, computed once so that a request builds only attributes that are read. */
export interface RuleNeeds {
  /** Every path that is read, look-up keys included. */
  readonly reads: readonly AttributePath[];
  readonly roots: ReadonlySet<string>;
  /** The identity is read: without one the response is 401, not 403. */
  readonly identity: boolean;
  readonly headers: boolean;
  readonly query: boolean;
  readonly body: boolean;
  /** The names that are read from the request. A request with names that could be mistaken for them is refused. */
  readonly names: NamesRead;
  /** Attribute roots to look up, each with its source and the path of its key. */
  readonly sources: readonly {
    readonly root: string;
    readonly source: string;
    readonly key: readonly string[];
  }[];
  /** False if a verdict cannot be cached (the time is read). */
  readonly cacheable: boolean;
  /** `digest#id`: distinguishes a rule from every other rule ever loaded. */
  readonly cacheKey: string;
}

/**
 * @param reads - every attribute path that the conditions of `id` read
 * @returns what they need for evaluation
 */
export function needsOf(
  reads: readonly AttributePath[],
  { ir, digest, id }: { readonly ir: PolicySetIR; readonly digest: string; readonly id: string },
): RuleNeeds {
  const sources = [...new Set(reads.map(([root]) => root ?? ""))].flatMap((root) => {
    const source = lookedUp(ir, root);
    return source === undefined ? [] : [{ root, source: source.name, key: source.key }];
  });
  const all = [...reads, ...sources.map((source) => source.key)];
  const roots = new Set(all.map(([root]) => root ?? ""));
  const readsRequest = (member: string) =>
    all.some(([root, second]) => root === "request" && (second === undefined || second === member));
  return {
    reads: all,
    roots,
    identity: roots.has("user") || roots.has("customer"),
    headers: readsRequest("headers"),
    query: readsRequest("query"),
    body: readsRequest("body"),
    names: namesOf(all),
    sources,
    cacheable: !roots.has("env") && !readsRequest("body"),
    cacheKey: `${digest}#${id}`,
  };
}

/** A read of the whole query, headers or body involves no name, because objects equal nothing. */
function namesOf(reads: readonly AttributePath[]): NamesRead {
  const below = (member: string) =>
    reads.flatMap(([root, second, ...path]) =>
      root === "request" && second === member && path.length > 0 ? [path] : [],
    );
  const [parameters, headers, members] = [below("query"), below("headers"), below("body")];
  const first = (paths: readonly AttributePath[]) => paths.map(([name = ""]) => name);
  return {
    ...(parameters.length > 0 && { parameters: parameterNames(first(parameters)) }),
    ...(headers.length > 0 && { headers: headerNames(first(headers)) }),
    ...(members.length > 0 && { members: memberNames(members) }),
  };
}

/** @returns the source of a root's attributes, for roots that are looked up */
export function lookedUp(ir: PolicySetIR, root: string) {
  return Object.hasOwn(ir.attributes, root) ? ir.attributes[root]?.source : undefined;
}
