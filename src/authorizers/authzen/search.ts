import {
  createUpstreamHeaders,
  enforceable,
  keptHeader,
  type DecisionPoint,
  type DoorCall,
  type ServingDependencies,
  type UpstreamHeadersOptions,
} from "../../decision/point/index.ts";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import type { JsonObject } from "../../json/index.ts";
import { REASONS } from "../../reasons.ts";
import { readPage } from "./page.ts";
import { checkOf, ROUTE, UnknownName, type AuthzenSettings } from "./question.ts";
import { BadRequest, readTuple, type Tuple } from "./tuple.ts";

/** Answers to a search, and where the next ones begin. */
export interface Found {
  readonly page: { readonly next_token: string };
  /** Present if there may be results that no search can find. */
  readonly context?: object;
  readonly results: readonly object[];
}

/** Searches decide on each candidate as an evaluation would, but record nothing: nobody has sent these requests. */
export interface Search {
  /** @throws BadRequest */
  readonly actions: (body: JsonObject, call: DoorCall) => Promise<Found>;
  /** @throws BadRequest */
  readonly resources: (body: JsonObject, call: DoorCall) => Promise<Found>;
  /**
   * Absent if nothing lists subjects.
   *
   * @throws BadRequest, NotListed
   */
  readonly subjects?: (body: JsonObject, call: DoorCall) => Promise<Found>;
}

/** The subjects of a type, as an attribute source lists them. */
export interface SubjectList {
  /** Changes with the ids. */
  readonly version: string;
  readonly ids: readonly string[];
}

/** The source of subjects could not be read yet. */
export class NotListed extends Error {
  override readonly name = "NotListed";
}

export interface SearchDependencies extends Pick<
  ServingDependencies,
  "forgedHeaders" | keyof UpstreamHeadersOptions
> {
  /** Decides without any consequence: no candidate of a rollout is tried on what nobody has sent. */
  readonly trial: Pick<DecisionPoint, "decide">;
  /** The gateway's own policy set in force. */
  readonly snapshot: () => Snapshot | undefined;
  /** What an attribute source lists; `undefined` if it could not be read yet. */
  readonly listSubjects: (source: string) => SubjectList | undefined;
}

/** How many candidates one page decides on. */
const PAGE = 100;
/** Candidates for actions, besides those that are configured. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** `unknown`: something that was not said, or cannot be obtained, decides. */
type Verdict = "permitted" | "denied" | "unknown";

interface Decided<Candidate> {
  readonly permitted: readonly Candidate[];
  readonly unknown: number;
  readonly next_token: string;
}

export function createSearch(settings: AuthzenSettings, dependencies: SearchDependencies): Search {
  const { trial, forgedHeaders, snapshot, listSubjects } = dependencies;
  const upstreamHeaders = createUpstreamHeaders(dependencies);

  async function verdictOn(tuple: Tuple, call: DoorCall): Promise<Verdict> {
    const check = checkOf(tuple, settings, call);
    if (forgedHeaders(check.access.raw.headers, check.behindEnvoy === true).length > 0) return "denied";
    const permitted = await trial.decide(check.access);
    const decision = permitted.verdict === "ALLOW" ? enforceable(permitted, check) : permitted;
    if (decision.verdict === "ALLOW")
      return keptHeader(upstreamHeaders(decision, check), check) === undefined ? "permitted" : "denied";
    const { reason } = decision;
    const isUnknown = reason === "CONDITION_UNKNOWN" || REASONS[reason].status >= 500;
    return isUnknown || check.unenforceable !== undefined ? "unknown" : "denied";
  }

  /** Decides on a page of candidates; ends it early, so that there is time to answer. */
  async function decideOn<Candidate>(
    candidates: readonly Candidate[],
    {
      body,
      tuple,
      version = "",
    }: { readonly body: JsonObject; readonly tuple: Tuple; readonly version?: string },
    call: DoorCall,
    tupleOf: (candidate: Candidate) => Tuple,
  ): Promise<Decided<Candidate>> {
    const { subject, action, resource, context } = tuple;
    const page = readPage(body, {
      version: `${snapshot()?.digest ?? ""} ${version}`,
      question: [entityOf(subject), action, entityOf(resource), context],
    });
    const end = Math.min(candidates.length, page.from + PAGE);
    const until = (Date.now() + call.deadline) / 2;
    const permitted: Candidate[] = [];
    let [at, unknown] = [page.from, 0];
    for (; at < end && permitted.length < page.limit && Date.now() < until; at += 1) {
      const candidate = candidates[at] as Candidate;
      const verdict = await verdictOn(tupleOf(candidate), call);
      if (verdict === "permitted") permitted.push(candidate);
      if (verdict === "unknown") unknown += 1;
    }
    return { permitted, unknown, next_token: at < candidates.length ? page.tokenAt(at) : "" };
  }

  async function subjects(body: JsonObject, call: DoorCall): Promise<Found> {
    const tuple = readTuple(body, "subject");
    const { type } = tuple.subject;
    const source = Object.hasOwn(settings.subjectSources, type) ? settings.subjectSources[type] : undefined;
    if (source === undefined)
      throw new BadRequest(
        `no attribute source lists subjects of the type \`${type}\` (authz.authzen.subject_sources)`,
      );
    const list = listSubjects(source);
    if (list === undefined) throw new NotListed(`the attribute source \`${source}\` could not be read`);
    // an evaluation takes no empty id
    const ids = list.ids.filter((id) => id !== "");
    const asked = { body, tuple, version: list.version };
    return answeringUnknownNames(async () => {
      const { permitted, unknown, next_token } = await decideOn(ids, asked, call, (id) => ({
        ...tuple,
        subject: { ...tuple.subject, id },
      }));
      const results = permitted.map((id) => ({ type, id }));
      const onlyListed = `only subjects in the attribute source \`${source}\` are found`;
      // there may always be somebody with a valid token who is in no list
      const reasons = [onlyListed, ...leftOut(unknown, ", such as what only their tokens have")];
      return { page: { next_token }, ...incompleteBecause(reasons), results };
    });
  }

  return {
    async actions(body, call) {
      const tuple = readTuple(body, "action");
      const names = [...new Set([...Object.keys(settings.actions), ...METHODS])];
      return answeringUnknownNames(async () => {
        const { permitted, unknown, next_token } = await decideOn(names, { body, tuple }, call, (action) => ({
          ...tuple,
          action,
        }));
        const results = permitted.map((name) => ({ name }));
        return { page: { next_token }, ...incompleteBecause(leftOut(unknown)), results };
      });
    },
    async resources(body, call) {
      const tuple = readTuple(body, "resource");
      const { resource } = tuple;
      if (resource.type !== ROUTE)
        throw new BadRequest(
          `only resources of the type \`${ROUTE}\` can be searched: nobody knows here which others there are`,
        );
      const { paths, hasOthers } = routesOf(snapshot());
      return answeringUnknownNames(async () => {
        const { permitted, unknown, next_token } = await decideOn(paths, { body, tuple }, call, (id) => ({
          ...tuple,
          resource: { ...resource, id },
        }));
        const results = permitted.map((id) => ({ type: ROUTE, id }));
        const reasons = [...(hasOthers ? [NOT_LISTED] : []), ...leftOut(unknown)];
        return { page: { next_token }, ...incompleteBecause(reasons), results };
      });
    },
    ...(Object.keys(settings.subjectSources).length > 0 && { subjects }),
  };
}

/** An id that a search leaves open counts for nothing. */
function entityOf({ type, id = "", properties }: Tuple["subject"]): JsonObject {
  return { type, id, properties };
}

/** Nothing is permitted that is mapped to no request. */
async function answeringUnknownNames(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof UnknownName) return { page: { next_token: "" }, results: [] };
    throw error;
  }
}

const NOT_LISTED = "paths with parameters or wildcards are not listed: nobody knows here which there are";

/** Why candidates of a page that are not permitted might be, if more were known. */
function leftOut(unknown: number, example = ""): readonly string[] {
  if (unknown === 0) return [];
  return [`${unknown} of this page are left out, because what decides is neither said nor listed${example}`];
}

function incompleteBecause(reasons: readonly string[]): Pick<Found, "context"> {
  return reasons.length === 0
    ? {}
    : { context: { incomplete: true, reason_admin: { en: reasons.join("; ") } } };
}

/** Paths that a rule names as they are. */
function routesOf(snapshot: Snapshot | undefined): {
  readonly paths: readonly string[];
  readonly hasOthers: boolean;
} {
  const rules = snapshot?.ir.rules ?? [];
  const fixed = rules.filter(({ segments }) => segments.every(({ kind }) => kind === "literal"));
  const paths = fixed.map(({ segments }) => {
    const values = segments.map((segment) => (segment.kind === "literal" ? segment.value : ""));
    return `/${values.map((value) => encodeURIComponent(value)).join("/")}`;
  });
  return {
    paths: [...new Set(paths)],
    hasOthers: fixed.length < rules.length || snapshot?.ir.default === "allow",
  };
}
