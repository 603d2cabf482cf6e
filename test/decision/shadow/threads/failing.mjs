import { parentPort, workerData } from "node:worker_threads";

// longer than its test is patient with a thread that has started
if (workerData === "starts slowly") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);

// a candidate that goes wrong in the way that the test asks for
let answered = false;
parentPort.on("message", ({ candidate: { digest }, tasks }) => {
  if (workerData === "throws") throw new Error("broken on purpose");
  if (workerData === "exits") process.exit(1);
  if (workerData === "loops") for (;;);
  if (workerData === "fills its memory") for (const all = []; ;) all.push(new Array(100_000).fill(tasks));
  if (workerData === "is slow")
    setTimeout(() => {
      parentPort.postMessage(answer(tasks, 1_000));
    }, 1_000);
  if (workerData === "throws for d2" && digest === "d2") throw new Error("broken on purpose");
  if (workerData === "throws for d2" && digest !== "d2") parentPort.postMessage(answer(tasks));
  if (workerData === "throws the second time") {
    if (answered) throw new Error("broken on purpose");
    answered = true;
    parentPort.postMessage(answer(tasks));
  }
  if (workerData === "works" || workerData === "starts slowly") parentPort.postMessage(answer(tasks));
});
if (workerData !== "never starts") parentPort.postMessage({ ready: true });

function answer(tasks, busyMs = 0) {
  /* eslint-disable-next-line @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access -- plain JavaScript, without types */
  return { same: tasks.length, failed: 0, bodiless: 0, differences: [], busyMs };
}
