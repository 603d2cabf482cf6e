import { useSearchParams } from "wouter-preact";

/** Filters, sorting and page stand in the address, so that a link or a reload shows the same. */
export function useUrlState() {
  const [search, setSearch] = useSearchParams();
  const values = Object.fromEntries(search);
  /** Empty values leave the address; whatever changes, the first page follows unless a page is set. */
  function set(changes: Readonly<Record<string, string | undefined>>, replace = false): void {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (!("page" in changes)) next.delete("page");
        for (const [name, value] of Object.entries(changes))
          if (value === undefined || value === "") next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace },
    );
  }
  return { values, set };
}
export type UrlState = ReturnType<typeof useUrlState>;
