import { headerNames, memberNames, parameterNames } from "../../names/index.ts";
import type { AttributePath, PolicySetIR } from "../../policy/index.ts";
import type { NamesRead } from "../../request/index.ts";

/** What conditions need to be evaluated, worked out once so that a request builds nothing that nobody reads. */
export interface RuleNeeds {
  readonly roots: ReadonlySet<string>;
  /** Who is asking is read: without an identity the answer is 401, not 403. */
  readonly identity: boolean;
  readonly headers: boolean;
  readonly query: boolean;
  readonly body: boolean;
  /** What is read of the request by name: of other names that could be read so, the request is refused. */
  readonly names: NamesRead;
  /** Attribute roots to look up, each with its source and the path of its key. */
  readonly sources: readonly {
    readonly root: string;
    readonly source: string;
    readonly key: readonly string[];
  }[];
  /** False where an answer is stale the moment it is given (the time is read). */
  readonly cacheable: boolean;
  /** `digest#id`: tells a rule of one policy set from every other rule ever loaded. */
  readonly cacheKey: string;
}

/**
 * @param reads - every attribute path that the conditions of `id` read
 * @returns what has to be there before they are evaluated
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

/** What reads the query, the headers or the body as a whole looks at no name in it: objects equal nothing. */
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

/** @returns where the attributes of a root are looked up, for roots that are. */
export function lookedUp(ir: PolicySetIR, root: string) {
  return Object.hasOwn(ir.attributes, root) ? ir.attributes[root]?.source : undefined;
}
