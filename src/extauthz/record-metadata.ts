import { DECISION } from "../envoy-contract.ts";
import { redactTarget, sanitize } from "../text/index.ts";
import { encodeMetadata } from "./encode.ts";

/** What Envoy is told about the record of each decision, because lines of its own refer to it. */
export interface RecordMetadata {
  /** The path as the audit has it, for the access log. */
  readonly path: boolean;
}

const LONGEST_PATH = 1024;

/** @returns what is appended to an answer */
export function recordMetadata({ path }: RecordMetadata, decisionId: string, target: string): Buffer {
  const ofPath = path && { [DECISION.record_path]: sanitize(redactTarget(target), LONGEST_PATH) };
  return encodeMetadata({ [DECISION.record_id]: decisionId, ...ofPath });
}
