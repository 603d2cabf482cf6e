import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { envoyBinary } from "../../support/envoy.ts";
import type { Processes } from "./processes.ts";

const OPTIONS = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];

/** Starts an Envoy whose bootstrap has its admin interface at that port, and waits until it is ready. */
export async function runEnvoy(
  processes: Processes,
  {
    folder,
    bootstrap,
    admin,
  }: { readonly folder: string; readonly bootstrap: object; readonly admin: number },
): Promise<void> {
  const file = join(folder, "envoy.json");
  await writeFile(file, JSON.stringify(bootstrap));
  await processes.start(await envoyBinary(), ["-c", file, ...OPTIONS], {}, async () => {
    const { status } = await fetch(`http://127.0.0.1:${admin}/ready`);
    return status === 200;
  });
}
