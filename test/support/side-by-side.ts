// Loaded with --require where test files run side by side, in several processes.
import { shareFolder } from "./temporary-directory.ts";

export const mochaGlobalSetup = shareFolder;

let told = false;

// Hooks run in the processes that run files. mocha gives them a second to end, then sends SIGTERM; on a busy machine writing
// down what was covered takes longer, and all that such a process has covered would be missing.
export const mochaHooks = {
  beforeAll(): void {
    if (!told) process.on("SIGTERM", () => undefined);
    const cache = process.env["TEST_COMPILE_CACHE"];
    // for the processes that tests start; this one has started without
    if (cache !== undefined) process.env["NODE_COMPILE_CACHE"] = cache;
    told = true;
  },
};
