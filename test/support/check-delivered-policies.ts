// Before publishing: the policies that are delivered are the ones that tests know. Not a test, for a checkout's are edited.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { DEMO_POLICIES } from "./demo-policies.ts";

const [delivered = fileURLToPath(new URL("../../policies", import.meta.url))] = process.argv.slice(2);
try {
  execFileSync("diff", ["-r", delivered, DEMO_POLICIES], { stdio: "inherit" });
} catch {
  process.stderr.write(
    `${delivered} is to be published, and tests know it otherwise: make ${DEMO_POLICIES} the same, and run them\n`,
  );
  process.exitCode = 1;
}
