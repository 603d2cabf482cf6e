import { UNREAD } from "../../envoy-contract.ts";
import type { PlanIR } from "../../policy/index.ts";
import type { SampleAnswer } from "../../policy/suite/index.ts";
import { fitsKind, maskDocument, mediaKind, otherKind } from "../../policy/mask/index.ts";

type ResponsePlan = NonNullable<PlanIR["response"]>;

/** A sample that only a gateway can evaluate. */
export class UnsupportedSample extends Error {}

/** The outcome of a response: changed according to the plan, or withheld. */
export type AnswerOutcome =
  | { readonly ok: true; readonly text: string; readonly paths: readonly string[] }
  /** `status`: that of the error that the client gets instead. */
  | { readonly ok: false; readonly reason: string; readonly status: number };

/**
 * Does to a sample what the gateway does to a response (envoy/lua/gatehouse/response.lua).
 *
 * @throws UnsupportedSample if the response is a stream, or that of a subscription: only the gateway evaluates its documents one by one
 */
export function maskAnswer(plan: PlanIR["response"], sample: SampleAnswer): AnswerOutcome {
  const { status, text } = sample;
  if (plan === undefined || status === 204 || status === 304 || text === "")
    return { ok: true, text, paths: [] };
  if (plan.events !== undefined)
    throw new UnsupportedSample(
      "the events of a subscription are not supported here: test them over WebSocket",
    );
  const refused = (reason: string) => ({ ok: false, reason, status: status < 300 ? 502 : status }) as const;
  const other = passingKind(plan, sample);
  if (other !== undefined)
    return fitsKind(other, new TextEncoder().encode(text))
      ? { ok: true, text, paths: [] }
      : refused(UNREAD.looks_like_json);
  const unread = unreadable(plan, sample);
  if (unread !== undefined) return refused(unread);
  const outcome = maskDocument(text, plan, responseOf(sample));
  return outcome.ok ? outcome : refused(outcome.reason);
}

/** @returns `response` as conditions see it, without its body */
export function responseOf({ status, headers }: SampleAnswer) {
  const lists = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of headers) (lists[name] ??= []).push(value);
  return { status, headers: lists };
}

/** @returns all values of a header, joined as by Envoy */
function valueOf({ headers }: SampleAnswer, name: string): string | undefined {
  const values = headers.flatMap(([other, value]) => (other === name ? [value] : []));
  return values.length === 0 ? undefined : values.join(",");
}

function isCoded(sample: SampleAnswer): boolean {
  const encoding = valueOf(sample, "content-encoding");
  return encoding !== undefined && encoding.toLowerCase() !== "identity";
}

function isPart(sample: SampleAnswer): boolean {
  return sample.status === 206 || valueOf(sample, "content-range") !== undefined;
}

/** A successful response of another type, complete and not encoded, so that its beginning can be checked. */
function passingKind(plan: ResponsePlan, sample: SampleAnswer) {
  if (plan.otherTypes !== "pass" || plan.errors !== undefined || sample.status > 299) return undefined;
  return isPart(sample) || isCoded(sample) ? undefined : otherKind(valueOf(sample, "content-type"));
}

function unreadable({ errors }: ResponsePlan, sample: SampleAnswer): string | undefined {
  if (isCoded(sample)) return UNREAD.compressed;
  if (isPart(sample)) return UNREAD.partial;
  const kind = mediaKind(valueOf(sample, "content-type") ?? "application/json"); // a sample is assumed to be JSON
  if (kind === undefined || (errors !== undefined && kind === "lines")) return UNREAD.not_json;
  if (kind === "json") return undefined;
  throw new UnsupportedSample(
    "streams are not supported here: use one of its documents, as application/json",
  );
}
