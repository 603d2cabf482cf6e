// Started by support.ts with an IPC channel: runs one command after the other, as bin/gatehouse.js does, and sends what each came to.
import { main } from "../../src/cli/main.ts";

export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
}

const written = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const)
  process[name].write = (chunk: string | Uint8Array) => {
    written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  };

process.on("message", ({ args, cwd }: Asked) => {
  written.stdout = written.stderr = "";
  process.exitCode = 0;
  process.chdir(cwd);
  void main([process.execPath, "gatehouse", ...args]).then(() => {
    process.send!({ code: process.exitCode, ...written });
    process.exitCode = 0;
  });
});
