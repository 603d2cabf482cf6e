import type { handleUnaryCall, ServiceDefinition } from "@grpc/grpc-js";
import { status as GrpcStatus } from "@grpc/grpc-js";
import type { IdentifiedConnection, IdentifyConnection } from "../decision/point/index.ts";
import { IDENTIFICATION, IDENTIFY, type IDENTIFIED } from "../envoy-contract.ts";

const same = (bytes: Buffer) => bytes;

/** The service that Lua calls with the first message of a connection (envoy/lua/gatehouse/identify.lua). */
export const CONNECTION_SERVICE: ServiceDefinition = {
  Identify: {
    path: IDENTIFY.path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
};

/** @returns the handler of its only method: the decision's id and the message, in two lines, to JSON */
export function identifyHandler(identify: IdentifyConnection): handleUnaryCall<Buffer, Buffer> {
  return ({ request }, callback) => {
    const end = request.indexOf("\n");
    if (end < 0) {
      callback({ code: GrpcStatus.INVALID_ARGUMENT, details: "the call names no decision" });
      return;
    }
    const decisionId = request.toString("utf8", 0, end);
    const answered = identify(decisionId, request.toString("utf8", end + 1));
    answered.then(
      (answer) => {
        callback(null, Buffer.from(JSON.stringify(encoded(answer))));
      },
      () => {
        callback({ code: GrpcStatus.INTERNAL, details: "the client could not be identified" });
      },
    );
  };
}

/** With the names under which Lua reads it. */
type Answer = { readonly [Name in keyof typeof IDENTIFIED]?: string | number };

function encoded(answer: IdentifiedConnection): Answer {
  switch (answer.result) {
    case "identified":
      return {
        result: IDENTIFICATION.identified,
        plan: answer.plan.text,
        expires_at: answer.plan.expiresAt,
      };
    case "unchanged":
      return { result: IDENTIFICATION.unchanged };
    case "refused":
      return { result: IDENTIFICATION.refused, ...answer.closing };
  }
}
