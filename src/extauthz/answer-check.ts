import type { Encoder, HeaderChanges } from "../decision/point/index.ts";
import { HEADER } from "../envoy-contract.ts";
import { encodeAllow, encodeBodyRequest, encodeDenial } from "./encode.ts";
import { planMetadata, PLAN_HEADER, type StatePlace } from "./plan-metadata.ts";
import type { HeaderList } from "./wire-headers.ts";
import { recordMetadata, type RecordMetadata } from "./record-metadata.ts";

export interface CheckEncoderOptions {
  /** Metadata about records for Envoy; absent: none. */
  readonly records?: RecordMetadata;
  /** Where Lua finds the state of open connections. */
  readonly place: StatePlace;
}

/** Sent when even a denial cannot be encoded. */
const LAST_RESORT = encodeDenial({ httpStatus: 500, grpcStatus: 7, headers: [], body: "" });

/** @returns the encoder of CheckResponses. Permits without a plan that set the same headers are serialized once. */
export function createCheckEncoder({ records, place }: CheckEncoderOptions): Encoder<Buffer> {
  const known = new WeakMap<HeaderChanges, Buffer>();

  const plain = (headers: HeaderChanges): Buffer => {
    let answer = known.get(headers);
    if (answer === undefined) {
      answer = encodeAllow({ setHeaders: headers.set, removeHeaders: headers.remove });
      known.set(headers, answer);
    }
    return answer;
  };

  const named = (answer: Buffer, decisionId: string | undefined, target: string): Buffer =>
    records === undefined || decisionId === undefined
      ? answer
      : Buffer.concat([answer, recordMetadata(records, decisionId, target)]);

  return {
    permit({ route }, { access, carries }, { headers, plan, decisionId }) {
      const ours: HeaderList = [
        ...(plan === undefined ? [] : [PLAN_HEADER]),
        // only our own Envoy has routes for it, and removes it
        ...(route === undefined || !carries.has("response") ? [] : [[HEADER.route, String(route)] as const]),
      ];
      const answer =
        ours.length === 0
          ? plain(headers)
          : encodeAllow({
              setHeaders: [...headers.set, ...ours],
              removeHeaders: headers.remove.filter((name) => ours.every(([own]) => own !== name)),
              ...(plan && { dynamicMetadata: planMetadata(plan, access, place) }),
            });
      return named(answer, decisionId, access.raw.target);
    },
    denial(_denial, check, { status, headers, body }, decisionId) {
      const answer = encodeDenial({
        httpStatus: status,
        grpcStatus: status === 401 ? 16 : 7,
        headers,
        body,
      });
      return named(answer, decisionId, check?.access.raw.target ?? "");
    },
    lastResort: LAST_RESORT,
    bodyRequest: encodeBodyRequest(),
  };
}
