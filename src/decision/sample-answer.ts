import type { PlanIR } from "../policy/index.ts";
import { maskDocument } from "../policy/mask/index.ts";

/** What the application is taken to answer. */
export interface SampleAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** What becomes of an answer: changed as the plan says, or withheld. */
export type AnswerOutcome =
  | { readonly ok: true; readonly text: string; readonly paths: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Does to a sample what the gateway does to an answer (envoy/lua/gatehouse/response.lua).
 *
 * @throws where the answer is a stream, of which only the gateway judges the documents one by one
 */
export function maskAnswer(plan: PlanIR["response"], sample: SampleAnswer): AnswerOutcome {
  const { status, text } = sample;
  if (plan === undefined || status === 204 || status === 304 || text === "")
    return { ok: true, text, paths: [] };
  const unread = unreadable(sample);
  if (unread !== undefined) return { ok: false, reason: unread };
  return maskDocument(text, plan, responseOf(sample));
}

/** @returns `response` of conditions, without its body. */
export function responseOf({ status, headers }: SampleAnswer) {
  const lists = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of headers) (lists[name] ??= []).push(value);
  return { status, headers: lists };
}

function unreadable({ status, headers }: SampleAnswer): string | undefined {
  const first = (name: string) => headers.find(([other]) => other === name)?.[1];
  const encoding = first("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return "compressed";
  if (status === 206 || first("content-range") !== undefined) return "partial";
  const kind = mediaKind(first("content-type") ?? "application/json"); // a sample is taken for JSON
  if (kind === "stream") {
    throw new Error("a stream cannot be tried here: take one of its documents, as application/json");
  }
  return kind === "json" ? undefined : "not_json";
}

const JSON_TYPE = /^(?:application\/json|text\/json|application\/[^/]+\+json)$/;
const STREAM_TYPE = /^(?:text\/event-stream|application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|json-lines))$/;
const UTF8 = ["utf-8", "utf8", "us-ascii"];

/** The same as `envoy/lua/gatehouse/media_type.lua`. */
function mediaKind(value: string): "json" | "stream" | undefined {
  const text = value.trim().toLowerCase();
  const [kind = ""] = text.split(/[\s;,]/, 1);
  const parameters = text.slice(kind.length);
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/.exec(parameters)?.[1];
  if (parameters.includes(",") || (charset !== undefined && !UTF8.includes(charset))) return undefined;
  if (JSON_TYPE.test(kind)) return "json";
  return STREAM_TYPE.test(kind) ? "stream" : undefined;
}
