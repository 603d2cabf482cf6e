/** An ext_authz service that allows everything unread: the minimum cost of gRPC between Envoy and Node.js. */
import { encodeAllow } from "../src/extauthz/encode.ts";
import { HealthState } from "../src/extauthz/health.ts";
import { startAuthzServer } from "../src/extauthz/server.ts";

const [unix] = process.argv.slice(2);
if (unix === undefined) throw new Error("the path of the socket is missing");
const allow = encodeAllow({ setHeaders: [], removeHeaders: [] });
const health = new HealthState();
await startAuthzServer({ listen: { unix }, check: () => allow, health, log: console });
health.set(true);
