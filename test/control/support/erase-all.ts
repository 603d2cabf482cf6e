import { runErasures } from "../../../src/control/resources/erasure/jobs.ts";
import { eventually } from "../../support/eventually.ts";

/** Erases until nothing is left to: an erasure waits for transactions that are just ending. */
export async function eraseAll(context: Parameters<typeof runErasures>[0]): Promise<void> {
  await eventually("all erasures finished", async () => {
    await runErasures(context);
    return (await context.db("erasures").whereNull("finished_at")).length === 0;
  });
}
