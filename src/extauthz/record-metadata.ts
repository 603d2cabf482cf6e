import { DECISION } from "../envoy-contract.ts";
import type { AccessRequest } from "../decision/types.ts";
import { redactTarget, sanitize } from "../text/index.ts";
import { encodeMetadata } from "./encode.ts";

/** What Envoy is told about the record of each decision. */
export interface RecordMetadata {
  /** The path as the audit has it, for the access log. */
  readonly path: boolean;
}

/** A decision that has its id before it is recorded, because lines of Envoy refer to it. */
export interface NamedRecord {
  readonly id: string;
  /** Appended to the answer. */
  readonly metadata: Buffer;
}

const LONGEST_PATH = 1024;

/**
 * @param wanted - absent where nobody reads it: answers are then the same for many requests
 * @param nextDecisionId - ids of decisions
 */
export function createRecordNamer(
  wanted: RecordMetadata | undefined,
  nextDecisionId: () => string,
): (access: AccessRequest) => NamedRecord | undefined {
  if (wanted === undefined) return () => undefined;
  return ({ raw }) => {
    const id = nextDecisionId();
    const path = wanted.path && { [DECISION.record_path]: sanitize(redactTarget(raw.target), LONGEST_PATH) };
    return { id, metadata: encodeMetadata({ [DECISION.record_id]: id, ...path }) };
  };
}
