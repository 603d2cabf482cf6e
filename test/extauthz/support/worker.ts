import { HealthState } from "../../../src/extauthz/health.ts";
import { startAuthzServer } from "../../../src/extauthz/server.ts";
import { connectToSupervisor } from "../../../src/processes/gateway/worker-channel.ts";

// A worker as the product has it, but for what it decides. Its arguments: the socket, and how to misbehave.
const [socket = "", mode = ""] = process.argv.slice(2);
if (mode === "dies") process.exit(3);

const say = (object: object, message: string) =>
  void process.stderr.write(`${message} ${JSON.stringify(object)}\n`);
const log = { info: say, warn: say, error: say };
const health = new HealthState();
let checks = 0;
const server = await startAuthzServer({
  listen: { unix: socket },
  health,
  log,
  check: (bytes) => {
    checks += 1;
    return bytes;
  },
});
const channel = connectToSupervisor({
  log,
  metrics: () => {
    if (mode === "mute") return new Promise(() => undefined);
    if (mode === "broken") throw new Error("no metrics");
    return { checks };
  },
  drain: async (graceMs) => {
    if (mode === "stubborn") await new Promise(() => undefined);
    if (mode === "clumsy") throw new Error("cannot drain");
    await server.close(graceMs);
  },
  onMessage: (message) => {
    if (message === "stop serving") channel.serving(false);
    else channel.send({ echo: message, pid: process.pid });
  },
});
health.set(true);
channel.serving(true);
