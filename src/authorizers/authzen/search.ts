import {
  enforceable,
  type DecisionPoint,
  type DoorCall,
  type ServingDependencies,
} from "../../decision/point/index.ts";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import type { JsonObject } from "../../json/index.ts";
import { checkOf, ROUTE, UnknownName, type AuthzenSettings } from "./question.ts";
import { BadRequest, objectIn, readTuple, type Tuple } from "./tuple.ts";

/** Answers to a search, and where the next ones begin. */
export interface Found {
  readonly results: readonly object[];
  readonly page: { readonly next_token: string };
  /** Present if there may be results that no search can find. */
  readonly context?: object;
}

/** Searches decide on each candidate as an evaluation would, but record nothing: nobody has sent these requests. */
export interface Search {
  /** @throws BadRequest */
  readonly actions: (body: JsonObject, call: DoorCall) => Promise<Found>;
  /** @throws BadRequest */
  readonly resources: (body: JsonObject, call: DoorCall) => Promise<Found>;
}

export interface SearchDependencies extends Pick<ServingDependencies, "forgedHeaders"> {
  /** Decides without any consequence: no candidate of a rollout is tried on what nobody has sent. */
  readonly trial: Pick<DecisionPoint, "decide">;
  /** The gateway's own policy set in force. */
  readonly snapshot: () => Snapshot | undefined;
}

/** How many candidates one page decides on. */
const PAGE = 100;
/** Candidates for actions, besides those that are configured. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function createSearch(
  settings: AuthzenSettings,
  { trial, forgedHeaders, snapshot }: SearchDependencies,
): Search {
  async function isPermitted(tuple: Tuple, call: DoorCall): Promise<boolean> {
    const check = checkOf(tuple, settings, call);
    if (forgedHeaders(check.access.raw.headers).length > 0) return false;
    const decision = await trial.decide(check.access);
    return decision.verdict === "ALLOW" && enforceable(decision, check).verdict === "ALLOW";
  }

  /** Decides on a page of candidates; ends it early rather than late. */
  async function page<Candidate>(
    candidates: readonly Candidate[],
    body: JsonObject,
    call: DoorCall,
    tupleOf: (candidate: Candidate) => Tuple,
  ): Promise<{ readonly permitted: readonly Candidate[]; readonly next_token: string }> {
    const digest = snapshot()?.digest.slice(0, DIGEST) ?? "";
    const from = startOf(body, digest);
    const permitted: Candidate[] = [];
    let at = from;
    for (; at < Math.min(candidates.length, from + PAGE) && Date.now() < call.deadline; at += 1) {
      const candidate = candidates[at] as Candidate;
      if (await isPermitted(tupleOf(candidate), call)) permitted.push(candidate);
    }
    return { permitted, next_token: at < candidates.length ? `${digest}.${at}` : "" };
  }

  return {
    async actions(body, call) {
      const tuple = readTuple(body, "action");
      const names = [...new Set([...Object.keys(settings.actions), ...METHODS])];
      try {
        const { permitted, next_token } = await page(names, body, call, (action) => ({ ...tuple, action }));
        return { results: permitted.map((name) => ({ name })), page: { next_token } };
      } catch (error) {
        if (error instanceof UnknownName) return { results: [], page: { next_token: "" } };
        throw error;
      }
    },
    async resources(body, call) {
      const tuple = readTuple(body, "resource");
      const { resource } = tuple;
      if (resource.type !== ROUTE)
        throw new BadRequest(
          `only resources of the type \`${ROUTE}\` can be searched: nobody knows here which others there are`,
        );
      const { paths, hasOthers } = routesOf(snapshot());
      try {
        const { permitted, next_token } = await page(paths, body, call, (id) => ({
          ...tuple,
          resource: { ...resource, id },
        }));
        const results = permitted.map((id) => ({ type: ROUTE, id }));
        return { results, page: { next_token }, ...(hasOthers && { context: INCOMPLETE }) };
      } catch (error) {
        if (error instanceof UnknownName) return { results: [], page: { next_token: "" } };
        throw error;
      }
    },
  };
}

const DIGEST = 12;

const INCOMPLETE = {
  incomplete: true,
  reason_admin: {
    en: "paths with parameters or wildcards are not listed: nobody knows here which there are",
  },
};

/** @throws BadRequest if the token is of another policy set, in whose order it was given */
function startOf(body: JsonObject, digest: string): number {
  const { page } = body;
  if (page === undefined) return 0;
  const token = objectIn(page, "page")["next_token"] ?? "";
  if (token === "") return 0;
  const [, of, at] = typeof token === "string" ? (/^([0-9a-f]*)\.([0-9]{1,9})$/.exec(token) ?? []) : [];
  if (at === undefined) throw new BadRequest("`page.next_token` is not one of this service");
  if (of !== digest) throw new BadRequest("the policy set has changed: search again from the first page");
  return Number(at);
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
