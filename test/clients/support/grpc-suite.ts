import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const definition = loadSync(fileURLToPath(new URL("../interop.proto", import.meta.url)), { defaults: true });
const loaded = grpc.loadPackageDefinition(definition)["interop"] as grpc.GrpcObject;
export const Suite = loaded["Suite"] as grpc.ServiceClientConstructor;
export const Absent = loaded["Absent"] as grpc.ServiceClientConstructor;

export interface Sized {
  readonly payload?: Buffer;
  readonly size?: number;
  readonly code?: number;
  readonly text?: string;
  readonly sleep?: boolean;
}
export type Done<Reply> = (error: grpc.ServiceError | null, reply?: Reply) => void;
type Unary<Message> = (
  message: Message,
  metadata: grpc.Metadata,
  done: Done<Message>,
) => grpc.ClientUnaryCall;

/** The calls of Suite in interop.proto. */
export interface SuiteClient extends grpc.Client {
  Empty: Unary<object>;
  Unary: Unary<Sized>;
  Missing: Unary<object>;
  Upload(metadata: grpc.Metadata, done: Done<Sized>): grpc.ClientWritableStream<Sized>;
  Both(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<Sized, Sized>;
}
export interface AbsentClient extends grpc.Client {
  Any: Unary<object>;
}

/** A real gRPC server that echoes the metadata `x-echo` and `x-echo-bin`, at the beginning and at the end. */
export async function startSuite() {
  const seen = { begun: 0, cancelled: 0, deadlines: [] as grpc.Deadline[] };
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
  const begin = (call: grpc.ServerReadableStream<Sized, Sized> | grpc.ServerDuplexStream<Sized, Sized>) => {
    seen.begun += 1;
    seen.deadlines.push(call.getDeadline());
    call.on("cancelled", () => (seen.cancelled += 1));
  };
  const first = ({ metadata }: { readonly metadata: grpc.Metadata }) => {
    const sent = new grpc.Metadata();
    for (const value of metadata.get("x-echo")) sent.add("x-echo", value);
    return sent;
  };
  const last = ({ metadata }: { readonly metadata: grpc.Metadata }) => {
    const sent = new grpc.Metadata();
    for (const value of metadata.get("x-echo-bin")) sent.add("x-echo-bin", value);
    return sent;
  };
  const replyTo = ({ size = 0 }: Sized): Sized => ({ payload: Buffer.alloc(size, 7) });
  server.addService(Suite.service, {
    Empty(_call: grpc.ServerUnaryCall<object, object>, done: grpc.sendUnaryData<object>) {
      done(null, {});
    },
    Unary(call: grpc.ServerUnaryCall<Sized, Sized>, done: grpc.sendUnaryData<Sized>) {
      call.sendMetadata(first(call));
      const { code = 0, text = "", payload } = call.request;
      if (code !== 0) done({ code, details: text });
      else done(null, { ...replyTo(call.request), text: String(payload?.length) }, last(call));
    },
    Upload(call: grpc.ServerReadableStream<Sized, Sized>, done: grpc.sendUnaryData<Sized>) {
      begin(call);
      let size = 0;
      call.on("data", ({ payload }: Sized) => (size += payload?.length ?? 0));
      call.on("end", () => {
        done(null, { size });
      });
    },
    Both(call: grpc.ServerDuplexStream<Sized, Sized>) {
      begin(call);
      call.sendMetadata(first(call));
      call.on("data", (message: Sized) => {
        const { code = 0, text = "", sleep = false } = message;
        if (code !== 0) call.emit("error", { code, details: text });
        else if (!sleep) call.write(replyTo(message));
      });
      call.on("end", () => {
        call.end(last(call));
      });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    url: `h2c://127.0.0.1:${port}`,
    seen,
    stop: () => {
      server.forceShutdown();
    },
  };
}
