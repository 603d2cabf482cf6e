import { fileURLToPath } from "node:url";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync, type AnyDefinition } from "@grpc/proto-loader";

/** `proto/` beside both `src/` and `dist/`. */
const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));

export const AUTHORIZATION_SERVICE = "envoy.service.auth.v3.Authorization";
const HEALTH_SERVICE = "grpc.health.v1.Health";

/** The services of `proto/`; a check's messages stay bytes. */
export interface Definitions {
  readonly authorization: ServiceDefinition;
  readonly health: ServiceDefinition;
}

/** Reads the proto files; some 20 ms, once a process. */
export function loadDefinitions(): Definitions {
  const files = ["envoy/service/auth/v3/external_auth.proto", "grpc/health/v1/health.proto"];
  const loaded = loadSync(files, { includeDirs: [PROTO_ROOT], enums: String, defaults: true });
  const authorization = service(loaded[AUTHORIZATION_SERVICE]);
  const check = authorization["Check"];
  if (check === undefined) throw new Error("external_auth.proto has no method Check");
  return { authorization: { Check: asBytes(check) }, health: service(loaded[HEALTH_SERVICE]) };
}

/** proto-loader's object conversion costs a quarter of all throughput. */
function asBytes(method: MethodDefinition<unknown, unknown>): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer) => bytes;
  return {
    ...method,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

function service(definition: AnyDefinition | undefined): ServiceDefinition {
  if (definition === undefined || "format" in definition) throw new Error("a service is missing in proto/");
  return definition;
}
