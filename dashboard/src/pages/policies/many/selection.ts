import { session } from "../../../api/client.ts";
import type { Body, Data } from "../../../api/types.ts";
import { environment } from "../../../environment.ts";
import { many as texts } from "../../../messages/many.ts";

export type Job = Data<"/bulk-assignments/{id}">;
type Customers = Body<"/policies/{id}/assignments", "post">["customers"];

export const ACTIONS = ["assign", "unassign"] as const;
export const KINDS = ["all", "status", "ids"] as const;
export const STATUSES = ["active", "suspended", "archived"] as const;

export interface Chosen {
  readonly id: string;
  /** Absent for an id that was pasted. */
  readonly name?: string;
}

/** What somebody is about to do, as far as the form is filled in. */
export interface Selection {
  readonly action: (typeof ACTIONS)[number];
  readonly of: (typeof KINDS)[number];
  readonly status: (typeof STATUSES)[number];
  readonly chosen: readonly Chosen[];
  /** The preview of these customers: another selection has none yet. */
  readonly preview?: string | undefined;
}

export const NOTHING: Selection = { action: "assign", of: "all", status: "active", chosen: [] };

/** As the API takes it. */
export function customersOf({ of, status, chosen }: Selection): Customers {
  if (of === "all") return { all: true };
  return of === "status" ? { status } : { ids: chosen.map(({ id }) => id) };
}

/** The customers of a selection, or of what the API says of a job, in words. */
export function inWords(customers: Customers | Job["customers"]): string {
  if ("all" in customers) return texts.words.all;
  if ("status" in customers) return texts.words.status(customers.status);
  const { ids } = customers;
  return texts.words.ids(typeof ids === "number" ? ids : ids.length);
}

function keyOf(policy: string): string {
  return `gatehouse-many/${environment}/${session.value?.user.id ?? ""}/${policy}`;
}

/** What is chosen survives a reload, but not the tab: the names of customers are not to be found in the browser later. */
export function readSelection(policy: string): Selection {
  try {
    return selectionOf(JSON.parse(sessionStorage.getItem(keyOf(policy)) ?? "{}"));
  } catch {
    return NOTHING;
  }
}

export function keepSelection(policy: string, selection: Selection): void {
  try {
    sessionStorage.setItem(keyOf(policy), JSON.stringify(selection));
  } catch {
    // storage is full or switched off: then the selection lasts until the next reload
  }
}

/** Whatever the storage holds that is not a selection is left out. */
function selectionOf(value: unknown): Selection {
  const { action, of, status, chosen, preview } = value as Readonly<Record<string, unknown>>;
  return {
    action: ACTIONS.find((one) => one === action) ?? NOTHING.action,
    of: KINDS.find((one) => one === of) ?? NOTHING.of,
    status: STATUSES.find((one) => one === status) ?? NOTHING.status,
    chosen: Array.isArray(chosen) ? chosen.flatMap(chosenOf) : [],
    ...(typeof preview === "string" && { preview }),
  };
}

function chosenOf(value: unknown): Chosen[] {
  const { id, name } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string") return [];
  return [{ id, ...(typeof name === "string" && { name }) }];
}
