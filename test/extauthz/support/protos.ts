import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

const require = createRequire(import.meta.url);
const packageFolder = (name: string) => dirname(require.resolve(`${name}/package.json`));

const envoy = join(packageFolder("@grpc/grpc-js-xds"), "deps");
const folders = {
  ours: [fileURLToPath(new URL("../../../proto", import.meta.url))],
  envoys: ["envoy-api", "xds", "protoc-gen-validate", "googleapis"].map((name) => join(envoy, name)),
};

/** All files of our `proto/` that have a counterpart in Envoy's. */
export const SHARED_FILES = [
  "envoy/service/auth/v3/external_auth.proto",
  "envoy/service/auth/v3/attribute_context.proto",
  "envoy/service/accesslog/v3/als.proto",
  "envoy/data/accesslog/v3/accesslog.proto",
  "envoy/config/core/v3/base.proto",
  "envoy/config/core/v3/address.proto",
  "envoy/type/v3/http_status.proto",
  "google/rpc/status.proto",
];

/** Parses the shared files as they stand in `proto/`, or as Envoy has them. */
export function loadProtos(
  from: keyof typeof folders,
  files: readonly string[] = SHARED_FILES,
): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) =>
    [...folders[from], packageFolder("protobufjs")]
      .map((folder) => join(folder, target))
      .find((path) => existsSync(path)) ?? target;
  root.loadSync([...files], { keepCase: true });
  root.resolveAll();
  return root;
}

export const CHECK_REQUEST = "envoy.service.auth.v3.CheckRequest";
export const CHECK_RESPONSE = "envoy.service.auth.v3.CheckResponse";
export const ACCESS_LOGS = "envoy.service.accesslog.v3.StreamAccessLogsMessage";

/** Plain objects, field names as in the files, absent fields absent, bytes as Buffers. */
export function decodeWith(root: protobuf.Root, type: string, bytes: Uint8Array): Record<string, unknown> {
  const found = root.lookupType(type);
  return found.toObject(found.decode(bytes), { longs: Number, enums: Number });
}

export function encodeWith(root: protobuf.Root, type: string, object: Record<string, unknown>): Buffer {
  const found = root.lookupType(type);
  return Buffer.from(found.encode(found.fromObject(object)).finish());
}
