import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { IDENTIFY } from "../../../src/envoy-contract.ts";

/** What a test reads of an `envoy.service.auth.v3.CheckRequest`. */
export interface Check {
  readonly attributes: {
    readonly contextExtensions: Readonly<Record<string, string>>;
    readonly source: { readonly address: { readonly socketAddress: { readonly address: string } } };
    readonly request: {
      readonly http: {
        readonly id: string;
        readonly method: string;
        readonly path: string;
        readonly host: string;
        readonly body: string;
        readonly rawBody: Buffer;
        readonly headerMap: {
          readonly headers: readonly { readonly key: string; readonly rawValue: Buffer }[];
        } | null;
      };
    };
  };
}

export type CheckAnswer = Readonly<Record<string, unknown>>;
/** What a service says to the first message of a connection; `never`: nothing at all, `fails`: an error of gRPC. */
export type Identify = (decisionId: string, text: string) => IdentifyAnswer | Promise<IdentifyAnswer>;
export type IdentifyAnswer = string | Buffer;
/** `never`: no answer at all. */
export type Decide = (check: Check) => CheckAnswer | "never";

export const ALLOW: CheckAnswer = { status: { code: 0 }, okResponse: {} };
/** No decision: Envoy asks again, with the body. */
export const ASK_AGAIN: CheckAnswer = { status: { code: 0 }, okResponse: {} };
export function denial(status: number, body: string): CheckAnswer {
  const headers = [{ header: { key: "content-type", value: "text/x-denial" } }];
  return { status: { code: 7 }, deniedResponse: { status: { code: status }, headers, body } };
}

const protos = join(
  dirname(createRequire(import.meta.url).resolve("@grpc/grpc-js-xds/package.json")),
  "deps",
);
const definition = loadSync("envoy/service/auth/v3/external_auth.proto", {
  includeDirs: ["envoy-api", "googleapis", "protoc-gen-validate", "xds"].map((name) => join(protos, name)),
  longs: Number,
  enums: String,
  defaults: true,
});

const passBytes = (bytes: Buffer) => bytes;
const inBytes = (path: string) =>
  ({
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: passBytes,
    requestDeserialize: passBytes,
    responseSerialize: passBytes,
    responseDeserialize: passBytes,
  }) as const;
const health = { Check: inBytes("/grpc.health.v1.Health/Check") } as const;
const connections = { Identify: inBytes(IDENTIFY.path) } as const;
/** `HealthCheckResponse { status: SERVING }` */
const SERVING = Buffer.from([0x08, 0x01]);

/** Every decision says that it is one, and a denial what it is. */
function final(answer: CheckAnswer): CheckAnswer {
  const { fields = {} } = (answer["dynamicMetadata"] ?? {}) as { fields?: object };
  const denied = "deniedResponse" in answer ? { denied: { boolValue: true } } : {};
  return { ...answer, dynamicMetadata: { fields: { final: { boolValue: true }, ...denied, ...fields } } };
}

/** The least that Envoy takes for an authorization service; answers as it is told and remembers what it was asked. */
export class AuthzStub {
  readonly checks: Check[] = [];
  decide: Decide = () => ALLOW;
  /** Calls for first messages that came. */
  readonly identified: { readonly decisionId: string; readonly text: string }[] = [];
  identify: Identify = () => "fails";
  port = 0;
  readonly #server = new grpc.Server();

  async listen(): Promise<this> {
    const service = definition["envoy.service.auth.v3.Authorization"] as grpc.ServiceDefinition;
    this.#server.addService(service, {
      Check: (call: grpc.ServerUnaryCall<Check, unknown>, respond: grpc.sendUnaryData<unknown>) => {
        this.checks.push(call.request);
        const answer = this.decide(call.request);
        if (answer !== "never") respond(null, answer === ASK_AGAIN ? answer : final(answer));
      },
    });
    this.#server.addService(health, {
      Check: (_: unknown, respond: grpc.sendUnaryData<Buffer>) => {
        respond(null, SERVING);
      },
    });
    this.#server.addService(connections, {
      Identify: (call: grpc.ServerUnaryCall<Buffer, Buffer>, respond: grpc.sendUnaryData<Buffer>) => {
        const [decisionId = "", ...lines] = call.request.toString().split("\n");
        const text = lines.join("\n");
        this.identified.push({ decisionId, text });
        void Promise.resolve(this.identify(decisionId, text)).then((answer) => {
          if (answer === "fails") respond({ code: grpc.status.INTERNAL });
          else if (answer !== "never") respond(null, Buffer.from(answer));
        });
      },
    });
    this.port = await new Promise((resolve, reject) => {
      this.#server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    return this;
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}

/** All values of a header as the service got them, byte by byte (latin1). */
export function headerValues(check: Check | undefined, name: string): readonly string[] {
  const headers = check?.attributes.request.http.headerMap?.headers ?? [];
  return headers.filter(({ key }) => key === name).map(({ rawValue }) => rawValue.toString("latin1"));
}
