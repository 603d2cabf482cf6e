import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEnvoy } from "../../src/gateway/envoy-process.ts";
import { bundleLua, LUA_DIRECTORY } from "../../src/gateway/lua-bundle.ts";
import { envoyBinary } from "./envoy.ts";

/** Envoy's own LuaJIT with the runtime loaded, and a function of a test in it. */
export interface LuaRunner {
  /** Calls the driver's `run`, bytes in, bytes out. Rejects with the Lua error where it raises one. */
  call(input: string | Uint8Array): Promise<Buffer>;
  close(): Promise<void>;
}

/** What one call takes and gives; a fuzz batch fits. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Starts an Envoy that runs `driver`: Lua source that defines `run(input) -> output`, both strings, and may
 * `require("gatehouse.…")`.
 *
 * @param directory - another copy of the runtime, for tests that break it
 */
export async function startLua(driver: string, directory = LUA_DIRECTORY): Promise<LuaRunner> {
  const runtimeDirectory = await mkdtemp(join(tmpdir(), "gatehouse-lua-"));
  const silent = () => undefined;
  const envoy = await startEnvoy({
    binary: await envoyBinary(),
    runtimeDirectory,
    concurrency: 1,
    log: { info: silent, warn: silent, error: silent },
    bootstrap: bootstrap(bundleLua(`${driver}\n${HARNESS}`, directory)),
  });
  return {
    async call(input) {
      const body = typeof input === "string" ? Buffer.from(input) : Buffer.from(input);
      const response = await fetch(`http://127.0.0.1:${envoy.listenPort}/`, { method: "POST", body });
      const output = Buffer.from(await response.arrayBuffer());
      if (response.status !== 200 || response.headers.get("x-lua") !== "ok") {
        throw new Error(`Lua: ${response.status} ${output.toString()}`);
      }
      return output;
    },
    async close() {
      await envoy.stop(0);
      await rm(runtimeDirectory, { recursive: true, force: true });
    },
  };
}

const HARNESS = `
function envoy_on_request(handle)
  local body = handle:body(true)
  local ok, result = pcall(run, body:getBytes(0, body:length()))
  handle:respond({[":status"] = ok and "200" or "500", ["x-lua"] = ok and "ok" or "error"}, tostring(result))
end
`;

function bootstrap(script: string) {
  const lua = {
    name: "envoy.filters.http.lua",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
      default_source_code: { inline_string: script },
    },
  };
  const router = {
    name: "envoy.filters.http.router",
    typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
  };
  const manager = {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      stat_prefix: "lua",
      http_filters: [lua, router],
      route_config: {
        virtual_hosts: [
          {
            name: "all",
            domains: ["*"],
            routes: [{ match: { prefix: "/" }, direct_response: { status: 404 } }],
          },
        ],
      },
    },
  };
  return {
    static_resources: {
      listeners: [
        {
          name: "gateway",
          address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
          per_connection_buffer_limit_bytes: MOST_BYTES,
          filter_chains: [{ filters: [manager] }],
        },
      ],
    },
  };
}
