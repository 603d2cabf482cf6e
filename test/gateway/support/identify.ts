import { IDENTIFICATION, ownClusterOf, SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import type { PlanIR } from "../../../src/policy/index.ts";
import { planOf, ruleOf } from "../../lua/graphql/plans.ts";
import {
  startSocketGateway,
  switching,
  type Connection,
  type SocketGateway,
  type Wire,
} from "./websocket.ts";

const subscribe = (id: string, query: string) =>
  JSON.stringify({ id, type: "subscribe", payload: { query } });

/** Messages of a GraphQL client. */
export const INIT = '{"type":"connection_init","payload":{"authorization":"Bearer x"}}';
export const PING = '{"type":"ping"}';
export const ME = subscribe("1", "{ me { id } }");
export const MY_NAME = subscribe("3", "{ me { name } }");
export const SECRET = subscribe("2", "{ secret { id } }");

/** Before the client is known, everything is denied; then `me` is permitted. */
const NOBODY = planOf([ruleOf("query me", false), ruleOf("query secret", false)]);
export const SOMEBODY = planOf([ruleOf("query me"), ruleOf("query secret", false)]);
/** Of the handshake. */
export const PLAN = { graphql: NOBODY, limit: 300_000 };
export const METADATA = { identify: ownClusterOf(0) };

/** The service says who the client is. */
export function identified(change: Partial<{ plan: string; expires_at: number }> = {}): string {
  const plan: PlanIR = {
    ir: 1,
    websocket: { environment: "test", plain: false, limit: 300_000, graphql: SOMEBODY },
  };
  return JSON.stringify({
    result: IDENTIFICATION.identified,
    plan: JSON.stringify(plan),
    expires_at: Math.floor(Date.now() / 1000) + 3600,
    ...change,
  });
}

/** What the application got, without the PINGs of the gateway's own. */
export const told = (server: Wire) => server.said.filter((text) => !/^ping [0-9a-f]{32}$/.test(text));

/**
 * A gateway that asks about first messages, for the tests of the suite that calls this. The machine may be busy: only tests of
 * lateness shall see it.
 */
export function useIdentifyingGateway(decisionTimeout = "15s") {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway({
      "identity.connection_params": ["authorization"],
      "authz.decision_timeout": decisionTimeout,
    });
  });
  beforeEach(() => {
    sockets.gateway.authz.identify = () => identified();
    sockets.gateway.authz.identified.length = 0;
  });
  afterEach(() => {
    sockets.reset();
  });
  after(() => sockets.stop());
  const speaking = (protocol: string): void => {
    sockets.handshake = (request) => switching(request, `Sec-WebSocket-Protocol: ${protocol}`);
  };
  const open = (protocol: string = SUBPROTOCOL.current): Promise<Connection> => {
    speaking(protocol);
    return sockets.open(PLAN, { metadata: METADATA });
  };
  return {
    get sockets() {
      return sockets;
    },
    /** The messages that the service was asked about. */
    asked: () => sockets.gateway.authz.identified.map(({ text }) => text),
    speaking,
    open,
  };
}
