import { MOMENTS } from "../../support/moments.ts";
import { runs } from "../../support/runs.ts";
import { startSandbox } from "../support/sandbox.ts";
import { assertShowsEverything, SEED } from "../support/sandbox-content.ts";

describe("a sandbox that is filled", () => {
  for (const moment of MOMENTS.slice(0, runs(3)))
    it(`at ${moment} shows as much`, async () => {
      const filled = await startSandbox({ seed: SEED, clock: () => Date.parse(moment) });
      try {
        await assertShowsEverything(filled);
      } finally {
        await filled.close();
      }
    });
});
