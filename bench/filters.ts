import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnvoyJson } from "../src/gateway/index.ts";
import { eventually } from "../test/support/eventually.ts";
import { effort } from "./effort.ts";
import { fixedAnswer, startBenchEnvoy, type BenchEnvoy } from "./envoy.ts";
import { startIdleServices } from "./idle.ts";
import { CONNECTIONS, load, loadTool } from "./load.ts";
import { median } from "./statistics.ts";

/** One row of the table: requests per second by the use of the Lua filters. */
interface Row {
  readonly setup: string;
  readonly without_filters: number;
  readonly with_filters: number;
  readonly with_to_without: number;
}

const SECONDS = effort(3);
const ROUNDS = effort(3);

const EXT_AUTHZ = "ext_authz";
const LUA = "gatehouse.lua.";

const VARIANTS = ["without", "with"] as const;
type Variant = (typeof VARIANTS)[number];

/**
 * What the filters in Lua cost requests that have no plan, in the gateway's own Envoy configuration, in front of services
 * that allow everything unread: taken out of it, and there, but switched off by the routes of requests without a plan.
 * The second row asks no service, which is most of a request's time, and so shows Lua alone.
 */
export async function benchmarkFilters(): Promise<Row[]> {
  const tool = await loadTool();
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const services = await startIdleServices(directory, upstream.url);
  const envoys: BenchEnvoy[] = [upstream];
  const start = async (variant: Variant, asking: boolean) => {
    const leftOut = (filter: string) =>
      (filter.startsWith(LUA) && variant === "without") || (filter.includes(EXT_AUTHZ) && !asking);
    const envoy = await startBenchEnvoy(
      directory,
      `${variant}-${asking}`,
      withoutFilters(services.bootstrap, leftOut),
    );
    envoys.push(envoy);
    await eventually(variant, async () => (await fetch(envoy.url)).ok);
    return envoy;
  };
  try {
    const rows: Row[] = [];
    for (const asking of [true, false]) {
      const setup = asking ? "with ext_authz, a service that looks at nothing" : "without ext_authz";
      const running = {
        without: await start("without", asking),
        with: await start("with", asking),
      };
      const found = { without: [] as number[], with: [] as number[] };
      for (let round = 0; round <= ROUNDS; round++) {
        for (const variant of VARIANTS) {
          const { rate, not2xx } = await load(tool, running[variant].url, "none", SECONDS);
          if (not2xx > 0) throw new Error(`${setup}: ${not2xx} requests were not answered by 2xx`);
          if (round > 0) found[variant].push(rate); // the first warms up
        }
      }
      const without = median(found.without);
      const withFilters = median(found.with);
      rows.push({
        setup,
        without_filters: Math.round(without),
        with_filters: Math.round(withFilters),
        with_to_without: withFilters / without,
      });
    }
    process.stdout.write(
      `load by ${tool}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s each\n`,
    );
    return rows;
  } finally {
    await Promise.all(envoys.map((envoy) => envoy.stop()));
    services.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The same configuration, but for HTTP filters of some names. */
function withoutFilters(bootstrap: EnvoyJson, leftOut: (name: string) => boolean): EnvoyJson {
  return JSON.parse(JSON.stringify(bootstrap), (key, value: unknown) =>
    key === "http_filters" && Array.isArray(value)
      ? value.filter(({ name }: { readonly name: string }) => !leftOut(name))
      : value,
  ) as EnvoyJson;
}
