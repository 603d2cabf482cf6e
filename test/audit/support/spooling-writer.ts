/**
 * A process that records decisions to a control plane that is away, and says on standard output how many of them count
 * as recorded. Arguments: the control plane's URL, its key, and the spool's folder.
 */
import { writeSync } from "node:fs";
import { controlPlaneAudit } from "./control-plane.ts";
import { auditRecord, counts } from "./records.ts";

const [url = "", apiKey = "", folder = ""] = process.argv.slice(2);
const { audit, metrics } = controlPlaneAudit({ url, apiKey }, folder);
for (let n = 0; ; n += 1) {
  audit.record("ALLOW", () => auditRecord({ decision_id: `dec_${n}`, detail: "x".repeat((n * 37) % 700) }));
  if (n % 100 !== 99) continue;
  await audit.flush();
  writeSync(1, `${(await counts(metrics)).recorded}\n`);
}
