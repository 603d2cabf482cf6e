import { fileURLToPath } from "node:url";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync, type AnyDefinition } from "@grpc/proto-loader";

/** `proto/` beside both `src/` and `dist/`. */
const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));

export const AUTHORIZATION_SERVICE = "envoy.service.auth.v3.Authorization";
const ACCESS_LOG_SERVICE = "envoy.service.accesslog.v3.AccessLogService";
const HEALTH_SERVICE = "grpc.health.v1.Health";

const FILES = [
  "envoy/service/auth/v3/external_auth.proto",
  "envoy/service/accesslog/v3/als.proto",
  "grpc/health/v1/health.proto",
];

/** The services of `proto/`; the messages of checks and access logs stay bytes. */
export interface Definitions {
  readonly authorization: ServiceDefinition;
  readonly accessLog: ServiceDefinition;
  readonly health: ServiceDefinition;
}

/** Loads the proto files; about 20 ms, once per process. */
export function loadDefinitions(): Definitions {
  const loaded = loadSync(FILES, { includeDirs: [PROTO_ROOT], enums: String, defaults: true });
  return {
    authorization: inBytes(loaded, AUTHORIZATION_SERVICE, "Check"),
    accessLog: inBytes(loaded, ACCESS_LOG_SERVICE, "StreamAccessLogs"),
    health: service(loaded, HEALTH_SERVICE),
  };
}

type Loaded = Readonly<Record<string, AnyDefinition>>;

/** A service with one method whose messages are not converted: conversion would cost a quarter of the throughput. */
function inBytes(loaded: Loaded, name: string, method: string): ServiceDefinition {
  const definition = service(loaded, name)[method];
  if (definition === undefined) throw new Error(`${name} has no method ${method}`);
  return { [method]: asBytes(definition) };
}

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

function service(loaded: Loaded, name: string): ServiceDefinition {
  const definition = loaded[name];
  if (definition === undefined || "format" in definition) throw new Error(`${name} is missing in proto/`);
  return definition;
}
