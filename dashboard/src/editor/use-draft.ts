import { useEffect, useRef, useState } from "preact/hooks";
import type { PolicyFile } from "../core/protocol.ts";
import { discardDraft, keepDraft, type Draft } from "./drafts.ts";

const KEEP_AFTER_MS = 300;

/** The end of the names of test suites. */
export const SUITE_SUFFIX = ".test.yaml";

export function isSuite(name: string): boolean {
  return name.endsWith(SUITE_SUFFIX);
}

/** All files of a draft, policies first. */
export function filesOf({ files, suites }: Draft): readonly PolicyFile[] {
  return [...files, ...suites];
}

/** A draft that the browser keeps a moment after each change, and when the page is left. */
export function useDraft(set: string, began: Draft, isKept: boolean) {
  const [draft, setDraft] = useState(began);
  const [changed, setChanged] = useState(isKept);
  const [tooLarge, setTooLarge] = useState(false);
  const waiting = useRef<Draft>();
  const keep = () => {
    if (waiting.current === undefined) return;
    setTooLarge(!keepDraft(set, waiting.current));
    waiting.current = undefined;
  };
  useEffect(() => {
    if (waiting.current === undefined) return undefined;
    const timer = setTimeout(keep, KEEP_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [draft]);
  useEffect(() => {
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, []);
  const [revision, setRevision] = useState(0);
  const change = (next: (before: Draft) => Draft) => {
    setDraft((before) => {
      const after = next(before);
      waiting.current = after;
      return after;
    });
    setChanged(true);
  };
  const write = (name: string, text: string) => {
    const put = (list: readonly PolicyFile[]) =>
      list.some((file) => file.name === name)
        ? list.map((file) => (file.name === name ? { name, text } : file))
        : [...list, { name, text }];
    change((before) =>
      isSuite(name) ? { ...before, suites: put(before.suites) } : { ...before, files: put(before.files) },
    );
  };
  return {
    draft,
    changed,
    tooLarge,
    revision,
    /** What somebody types in a file. */
    write,
    /** Puts a file in place of what the editor shows, or adds it. */
    replace: (name: string, text: string) => {
      write(name, text);
      setRevision((before) => before + 1);
    },
    remove: (name: string) => {
      const rest = (list: readonly PolicyFile[]) => list.filter((file) => file.name !== name);
      change((before) => ({ ...before, files: rest(before.files), suites: rest(before.suites) }));
    },
    /** The set is published: what is left of the draft are its tests. */
    settle(version: string) {
      const { suites } = draft;
      const settled = { ...draft, basedOn: version };
      waiting.current = undefined;
      if (suites.length === 0) discardDraft(set);
      else setTooLarge(!keepDraft(set, settled));
      setDraft(settled);
      setChanged(false);
    },
    discard() {
      waiting.current = undefined;
      discardDraft(set);
    },
  };
}
export type OpenDraft = ReturnType<typeof useDraft>;
