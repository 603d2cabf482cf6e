import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "../../runtime/lower-priority.ts";
import type { ShadowData } from "./shadow-evaluation.ts";

/** The module that evaluates candidates in shadow, in a thread of a worker, on {@link ShadowData}. */
export const SHADOW_THREAD = new URL(import.meta.url);

if (!isMainThread && parentPort !== null) {
  // first, because most of what a start costs is loading the rest
  lowerPriority();
  const { runShadow } = await import("./shadow-evaluation.ts");
  await runShadow(workerData as ShadowData, parentPort);
}
