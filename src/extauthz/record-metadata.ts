import { DECISION } from "../envoy-contract.ts";
import { redactTarget, sanitize } from "../text/index.ts";
import { encodeMetadata } from "./encode.ts";

/** What Envoy needs about the record of each decision, because its own log lines refer to it. */
export interface RecordMetadata {
  /** The path as in the audit, for the access log. */
  readonly path: boolean;
}

const LONGEST_PATH = 1024;

/** @returns the bytes to append to a response */
export function recordMetadata({ path }: RecordMetadata, decisionId: string, target: string): Buffer {
  const ofPath = path && { [DECISION.record_path]: sanitize(redactTarget(target), LONGEST_PATH) };
  return encodeMetadata({ [DECISION.record_id]: decisionId, ...ofPath });
}
