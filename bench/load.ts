import { execFile } from "node:child_process";
import { promisify } from "node:util";

export const CONNECTIONS = 64;

export type Tool = "wrk" | "autocannon";

/** The result of a load tool. */
export interface Load {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly not2xx: number;
}

const run = promisify(execFile);

/** wrk if it is installed, because it uses less CPU; otherwise autocannon, which npm installs. */
export async function loadTool(): Promise<Tool> {
  return run("wrk", ["-v"]).then(
    () => "wrk" as const,
    (error: unknown) =>
      typeof error === "object" && error !== null && "code" in error && error.code === 1
        ? "wrk"
        : "autocannon",
  );
}

/** Requests `url` on {@link CONNECTIONS} connections for some seconds, each time as soon as the last response has arrived. */
export async function load(tool: Tool, url: string, token: string, seconds: number): Promise<Load> {
  const header = `Authorization: Bearer ${token}`;
  if (tool === "autocannon") {
    const options = ["-c", String(CONNECTIONS), "-d", String(seconds), "-H", header, "-j", url];
    const { stdout } = await run("autocannon", options, { maxBuffer: 1e8 });
    const found = JSON.parse(stdout) as {
      requests: { average: number };
      latency: { p50: number; p99: number };
      non2xx: number;
    };
    return {
      rate: found.requests.average,
      p50: found.latency.p50,
      p99: found.latency.p99,
      not2xx: found.non2xx,
    };
  }
  const options = ["-t", "1", "-c", String(CONNECTIONS), "-d", `${seconds}s`, "--latency", "-H", header, url];
  const { stdout } = await run("wrk", options);
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
  return {
    rate: number(/Requests\/sec:\s+([\d.]+)/),
    p50: milliseconds(/\s50%\s+(\S+)/.exec(stdout)?.[1]),
    p99: milliseconds(/\s99%\s+(\S+)/.exec(stdout)?.[1]),
    not2xx: number(/Non-2xx or 3xx responses: (\d+)/),
  };
}

function milliseconds(text = ""): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? [];
  return Number(value) * (unit === "us" ? 0.001 : unit === "s" ? 1000 : 1);
}
