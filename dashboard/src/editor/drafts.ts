import { session } from "../api/client.ts";
import type { PolicyFile } from "../core/protocol.ts";
import { environment } from "../environment.ts";

/** What somebody has written of a policy set and not published yet, with the tests beside it. */
export interface Draft {
  readonly files: readonly PolicyFile[];
  readonly suites: readonly PolicyFile[];
  /** The version that it began with; null for a new set. */
  readonly basedOn: string | null;
}

/** Drafts belong to a person: others who use the same browser do not see them. */
function prefix(): string {
  return `gatehouse-draft/${environment}/${session.value?.user.id ?? ""}/`;
}

export function readDraft(set: string): Draft | undefined {
  try {
    const text = localStorage.getItem(prefix() + set);
    return text === null ? undefined : draftOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @returns false if the browser does not keep it */
export function keepDraft(set: string, draft: Draft): boolean {
  try {
    localStorage.setItem(prefix() + set, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function discardDraft(set: string): void {
  try {
    localStorage.removeItem(prefix() + set);
  } catch {
    // storage is switched off: there was nothing to keep
  }
}

/** The names of all sets of which there is a draft. */
export function draftNames(): string[] {
  try {
    const start = prefix();
    return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? "")
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length))
      .sort();
  } catch {
    return [];
  }
}

/** Anything in the storage that does not have the form of a draft is ignored. */
function draftOf(value: unknown): Draft | undefined {
  const { files, suites, basedOn } = value as Readonly<Record<string, unknown>>;
  const isFiles = (list: unknown): list is PolicyFile[] =>
    Array.isArray(list) &&
    list.every((file: unknown) => {
      const { name, text } = (file ?? {}) as Readonly<Record<string, unknown>>;
      return typeof name === "string" && typeof text === "string";
    });
  if (!isFiles(files) || !isFiles(suites)) return undefined;
  return { files, suites, basedOn: typeof basedOn === "string" ? basedOn : null };
}
