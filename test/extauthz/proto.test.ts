import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import protobuf from "protobufjs";
import {
  ACCESS_LOGS,
  CHECK_REQUEST,
  CHECK_RESPONSE,
  decodeWith,
  encodeWith,
  loadProtos,
  SHARED_FILES,
} from "./support/protos.ts";
import { runs } from "../support/runs.ts";

const HEALTH = "grpc/health/v1/health.proto";
const ACCESS_LOGS_ANSWER = "envoy.service.accesslog.v3.StreamAccessLogsResponse";

function typesOf(namespace: protobuf.NamespaceBase): (protobuf.Type | protobuf.Enum)[] {
  return namespace.nestedArray.flatMap((object) => {
    if (object instanceof protobuf.Enum) return [object];
    if (object instanceof protobuf.Type) return [object, ...typesOf(object)];
    return object instanceof protobuf.Namespace ? typesOf(object) : [];
  });
}

/** What decides about the bytes of a field. */
function wireForm(field: protobuf.Field): object {
  return {
    number: field.id,
    type: field.resolvedType?.fullName ?? field.type,
    repeated: field.repeated,
    packed: field.packed,
    key: field instanceof protobuf.MapField ? field.keyType : undefined,
    oneof: field.partOf?.name,
  };
}

/** A generator of any message of a type, as plain objects, every scalar in its canonical form. */
function messages(type: protobuf.Type, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const entries = type.fieldsArray
    .filter((field) => depth < 8 || !(field.resolvedType instanceof protobuf.Type))
    .map((field) => [field.name, field.resolve()] as const);
  return fc
    .record(
      Object.fromEntries(
        entries.map(([name, field]) => {
          const value = values(field, depth);
          if (field instanceof protobuf.MapField)
            return [name, fc.dictionary(fc.string({ minLength: 1 }), value, { maxKeys: 3 })];
          return [name, field.repeated ? fc.array(value, { maxLength: 3 }) : value];
        }),
      ),
      { requiredKeys: [] },
    )
    .map((object) => {
      // Of a oneof, one: the last, as on the wire.
      for (const { fieldsArray } of type.oneofsArray) {
        const present = fieldsArray.filter(({ name }) => name in object);
        for (const { name } of present.slice(0, -1)) Reflect.deleteProperty(object, name);
      }
      return object;
    });
}

function values(field: protobuf.Field, depth: number): fc.Arbitrary<unknown> {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.values(resolvedType.values));
  if (resolvedType !== null)
    return fc.oneof(
      { depthIdentifier: "message", maxDepth: 6 },
      fc.constant({}),
      messages(resolvedType, depth + 1),
    );
  const scalars: Record<string, fc.Arbitrary<unknown>> = {
    string: fc.string({ unit: "grapheme" }),
    bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    bool: fc.boolean(),
    double: fc.double({ noNaN: true }),
    int32: fc.integer(),
    uint32: fc.nat(),
    int64: fc.maxSafeInteger(),
    uint64: fc.maxSafeNat(),
  };
  const scalar = scalars[field.type];
  if (scalar === undefined) throw new Error(`no generator for ${field.type}`);
  return scalar;
}

describe("extauthz: proto files", () => {
  const ours = loadProtos("ours");
  const envoys = loadProtos("envoys");
  const shared = typesOf(ours).filter(({ fullName }) => !fullName.startsWith(".google.protobuf."));

  it("are all looked at here", () => {
    const folder = fileURLToPath(new URL("../../proto", import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".proto"),
    );
    assert.deepEqual(files.sort(), [...SHARED_FILES, HEALTH].sort());
  });

  it("have every message, field, number and type from Envoy", () => {
    let fields = 0;
    for (const type of shared) {
      const theirs = envoys.lookupTypeOrEnum(type.fullName);
      if (type instanceof protobuf.Enum) {
        assert.ok(theirs instanceof protobuf.Enum);
        for (const [name, value] of Object.entries(type.values))
          assert.equal(theirs.values[name], value, `${type.fullName}.${name}`);
        continue;
      }
      assert.ok(theirs instanceof protobuf.Type);
      for (const field of type.fieldsArray) {
        const counterpart = theirs.fields[field.name];
        assert.ok(counterpart, `${type.fullName}.${field.name} is not Envoy's`);
        assert.deepEqual(wireForm(field), wireForm(counterpart), `${type.fullName}.${field.name}`);
        fields += 1;
      }
    }
    assert.ok(fields > 40);
  });

  it("have Envoy's services", () => {
    const services = [
      ["envoy.service.auth.v3.Authorization", "Check", CHECK_REQUEST, CHECK_RESPONSE, false],
      [
        "envoy.service.accesslog.v3.AccessLogService",
        "StreamAccessLogs",
        ACCESS_LOGS,
        ACCESS_LOGS_ANSWER,
        true,
      ],
    ] as const;
    for (const root of [ours, envoys]) {
      for (const [service, name, request, response, streams] of services) {
        const method = root.lookupService(service).methods[name]?.resolve();
        assert.ok(method instanceof protobuf.Method);
        assert.deepEqual(
          [method.resolvedRequestType?.fullName, method.resolvedResponseType?.fullName],
          [`.${request}`, `.${response}`],
        );
        assert.deepEqual([method.requestStream === true, method.responseStream === true], [streams, false]);
      }
    }
  });

  for (const type of [CHECK_REQUEST, CHECK_RESPONSE, ACCESS_LOGS]) {
    it(`take any ${type} to Envoy and back`, () => {
      fc.assert(
        fc.property(messages(ours.lookupType(type)), (object) => {
          const bytes = encodeWith(ours, type, object);
          const meaning = decodeWith(ours, type, bytes);
          // Through Envoy's reading and writing, nothing is lost, added or moved.
          const there = decodeWith(envoys, type, bytes);
          assert.deepEqual(there, meaning);
          assert.deepEqual(decodeWith(ours, type, encodeWith(envoys, type, there)), meaning);
        }),
        { numRuns: runs(150) },
      );
    });
  }

  it("have gRPC's health protocol, as its specification prints it", () => {
    const root = loadProtos("ours", [HEALTH]);
    const service = root.lookupService("grpc.health.v1.Health");
    assert.deepEqual(
      service.methodsArray.map(({ name, requestType, responseType, requestStream, responseStream }) => [
        name,
        requestType,
        responseType,
        requestStream === true,
        responseStream === true,
      ]),
      [
        ["Check", "HealthCheckRequest", "HealthCheckResponse", false, false],
        ["Watch", "HealthCheckRequest", "HealthCheckResponse", false, true],
      ],
    );
    assert.deepEqual(root.lookupEnum("grpc.health.v1.HealthCheckResponse.ServingStatus").values, {
      UNKNOWN: 0,
      SERVING: 1,
      NOT_SERVING: 2,
      SERVICE_UNKNOWN: 3,
    });
    const request = encodeWith(root, "grpc.health.v1.HealthCheckRequest", { service: "a" });
    assert.deepEqual([...request], [0x0a, 1, 0x61]);
    assert.deepEqual([...encodeWith(root, "grpc.health.v1.HealthCheckResponse", { status: 1 })], [0x08, 1]);
  });
});
