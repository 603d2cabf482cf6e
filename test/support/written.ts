import type { StoredEvent } from "../../src/control/platform/events.ts";
import type { StoredChange, UnitWriters } from "../../src/control/platform/unit.ts";

/** What units have gathered, by itself: for tests of one resource, which do not look at another's tables. */
export interface Written {
  readonly writers: Pick<UnitWriters, "changes" | "events">;
  readonly changes: readonly StoredChange[];
  readonly events: readonly StoredEvent[];
  all(): readonly object[];
  clear(): void;
}

/** Keeps changes and events of units that are about to commit. */
export function listen(): Written {
  const changes: StoredChange[] = [];
  const events: StoredEvent[] = [];
  return {
    writers: {
      changes(_trx, more) {
        changes.push(...more);
        return Promise.resolve();
      },
      events(_trx, more) {
        events.push(...more);
        return Promise.resolve();
      },
    },
    changes,
    events,
    all: () => [...changes, ...events],
    clear() {
      changes.length = 0;
      events.length = 0;
    },
  };
}
