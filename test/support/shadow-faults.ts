/**
 * Loaded into every thread of a gateway (`--import`). In the one that evaluates candidates in shadow, each batch for a candidate
 * fails as its version says.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";

const data: unknown = workerData;
const isShadow = !isMainThread && typeof data === "object" && data !== null && "config" in data;

if (isShadow)
  parentPort?.on("message", ({ candidate }: { candidate: { label: string } }) => {
    if (candidate.label.endsWith("@throws")) throw new Error("broken on purpose");
    if (candidate.label.endsWith("@second")) {
      const end = performance.now() + 1_000;
      while (performance.now() < end);
    }
  });
