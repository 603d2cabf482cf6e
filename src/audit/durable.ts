import type { DurableRecord } from "./types.ts";
import type { AuditRecord, OutcomeRecord } from "../protocol/record.ts";

/** Notifications from a durable record to its queue. */
export interface DurableHandlers {
  /** The decision was changed before the record was written: it counts from now on. */
  readonly revoked: () => void;
  /** The decision was changed after the record was written: this outcome says so. */
  readonly contradicted: (outcome: () => OutcomeRecord) => void;
}

/**
 * The record of a decision that waits for it. Until it is being written, it can be replaced; after that, a second line says
 * that the decision was changed.
 */
export class Durable implements DurableRecord {
  readonly written: Promise<boolean>;
  readonly #settle: (isWritten: boolean) => void;
  readonly #handlers: DurableHandlers;
  #state: "waiting" | "written" | "lost" = "waiting";
  #replacement: (() => AuditRecord) | undefined;
  #contradiction: (() => OutcomeRecord) | undefined;

  constructor(handlers: DurableHandlers) {
    this.#handlers = handlers;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.written = promise;
    this.#settle = resolve;
  }

  get isRevoked(): boolean {
    return this.#contradiction !== undefined;
  }

  revoke(record: () => AuditRecord, outcome: () => OutcomeRecord): void {
    if (this.isRevoked || this.#state === "lost") return;
    this.#contradiction = outcome;
    if (this.#state === "written") {
      this.#handlers.contradicted(outcome);
      return;
    }
    this.#replacement = record;
    this.#handlers.revoked();
  }

  /** @returns the line to write in place of the record, once */
  takeReplacement(): (() => AuditRecord) | undefined {
    const replacement = this.#replacement;
    this.#replacement = undefined;
    return replacement;
  }

  settled(isWritten: boolean): void {
    this.#state = isWritten ? "written" : "lost";
    // the replacement arrived while the record was being written
    if (isWritten && this.#replacement !== undefined && this.#contradiction !== undefined)
      this.#handlers.contradicted(this.#contradiction);
    this.#settle(isWritten);
  }
}
