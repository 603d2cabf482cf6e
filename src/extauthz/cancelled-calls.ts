import type { Server } from "@grpc/grpc-js";

/** More than Envoy can cancel on one connection. */
const STREAMS = 1_000_000;

/**
 * Lets the peer cancel as many calls as it likes. Envoy cancels the check of each client that gives up. By default, Node
 * closes an HTTP/2 connection after a thousand cancelled streams, and then after 33 per second: any client that opens and
 * cancels requests would end the checks of all others, which Envoy then repeats or answers with 503.
 *
 * grpc-js has no option for it, so this sets the options that it passes to Node. Call it before the server gets connections.
 *
 * @throws TypeError if this version of grpc-js does not have them
 */
export function allowCancelledCalls(server: Server): void {
  const options: unknown = Reflect.get(server, "commonServerOptions");
  if (typeof options !== "object" || options === null)
    throw new TypeError("grpc-js does not have the options of its HTTP/2 server");
  Object.assign(options, { streamResetBurst: STREAMS, streamResetRate: STREAMS });
}
