/** An ext_authz service that allows everything without looking at it: what gRPC between Envoy and Node costs at least. */
import { encodeAllow } from "../src/extauthz/encode.ts";
import { HealthState } from "../src/extauthz/health.ts";
import { startAuthzServer } from "../src/extauthz/server.ts";

const [unix] = process.argv.slice(2);
if (unix === undefined) throw new Error("which socket?");
const allow = encodeAllow({ setHeaders: [], removeHeaders: [] });
const health = new HealthState();
await startAuthzServer({ listen: { unix }, check: () => allow, health, log: console });
health.set(true);
