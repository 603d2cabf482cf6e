import {
  Metadata,
  status as GrpcStatus,
  type handleClientStreamingCall,
  type ServerReadableStream,
} from "@grpc/grpc-js";
import type { AccessLogHandler } from "./access-log.ts";

/** envoy.service.accesslog.v3.AccessLogService: streams that go on for as long as Envoy wants. */
export interface AccessLogService {
  readonly stream: handleClientStreamingCall<Buffer, Buffer>;
  /** Ends every stream, and takes no more: a server with an open stream would never finish closing. */
  readonly end: () => void;
}

/** StreamAccessLogsResponse has no fields. */
const ANSWER = Buffer.alloc(0);

/** @param take - gets each message as it comes */
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
      // from now on Envoy knows that somebody listens, and sends nothing twice
      call.sendMetadata(new Metadata());
      call.on("data", take);
      call.on("end", end);
      // Envoy has gone, or has sent what is no message: the stream is over without an answer
      call.on("cancelled", forget);
      call.on("error", forget);
    },
    end: () => {
      ended = true;
      for (const end of [...endings]) end();
    },
  };
}
