import type { DurableRecord } from "./types.ts";
import type { AuditRecord, OutcomeRecord } from "../protocol/record.ts";

/** What a durable record tells the queue that it is in. */
export interface DurableHandlers {
  /** The decision was made otherwise, before the record was written: it counts from now on. */
  readonly revoked: () => void;
  /** The record is out, though the decision was made otherwise: this says so. */
  readonly contradicted: (outcome: () => OutcomeRecord) => void;
}

/**
 * The record of a decision that waits for it. Until it is being written another one can take its place; later a further
 * line says that the decision was made otherwise after all.
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

  /** @returns what is to be written in the record's place, once */
  takeReplacement(): (() => AuditRecord) | undefined {
    const replacement = this.#replacement;
    this.#replacement = undefined;
    return replacement;
  }

  settled(isWritten: boolean): void {
    this.#state = isWritten ? "written" : "lost";
    // the replacement came while the record itself was being written
    if (isWritten && this.#replacement !== undefined && this.#contradiction !== undefined)
      this.#handlers.contradicted(this.#contradiction);
    this.#settle(isWritten);
  }
}
