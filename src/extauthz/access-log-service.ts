import {
  Metadata,
  status as GrpcStatus,
  type handleClientStreamingCall,
  type ServerReadableStream,
} from "@grpc/grpc-js";
import type { AccessLogHandler } from "./access-log.ts";

/** envoy.service.accesslog.v3.AccessLogService: streams that stay open as long as Envoy wants. */
export interface AccessLogService {
  readonly stream: handleClientStreamingCall<Buffer, Buffer>;
  /** Ends every stream and accepts no more: a server with an open stream would never finish closing. */
  readonly end: () => void;
}

/** StreamAccessLogsResponse has no fields. */
const ANSWER = Buffer.alloc(0);

/** @param take - receives each message */
export function createAccessLogService(take: AccessLogHandler): AccessLogService {
  const endings = new Set<() => void>();
  let ended = false;
  return {
    stream: (call: ServerReadableStream<Buffer, Buffer>, callback) => {
      if (ended) {
        callback({ code: GrpcStatus.UNAVAILABLE, details: "the service is stopping" });
        return;
      }
      const forget = () => endings.delete(end);
      const end = () => {
        if (forget()) callback(null, ANSWER);
      };
      endings.add(end);
      // now Envoy knows that the stream is accepted, and sends nothing twice
      call.sendMetadata(new Metadata());
      call.on("data", take);
      call.on("end", end);
      // Envoy disconnected, or sent a malformed message: the stream ends without a response
      call.on("cancelled", forget);
      call.on("error", forget);
    },
    end: () => {
      ended = true;
      for (const end of [...endings]) end();
    },
  };
}
