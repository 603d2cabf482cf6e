import type {
  FollowStateQuery,
  GatewayCaller,
  GatewayPolicySet,
  GatewayRecords,
  GatewayRegistration,
  GatewayState,
  GatewayStatistics,
  GatewayUser,
  RolloutReport,
  TakenRecords,
  TakenRegistration,
  TakenRolloutReport,
  TakenStatistics,
} from "../api.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** What gateways ask and report, for keys of scope `gateway`. */
export class GatewaySync {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sync the state that gateways decide by. */
  async state(query?: FollowStateQuery, options?: CallOptions): Promise<GatewayState> {
    return this.#transport.data({
      method: "GET",
      path: path`/gateway/state`,
      query,
      options,
      serverWaitMs: 1000 * (query?.wait ?? 0),
    });
  }

  /** Read the active version of a policy set. */
  async policySet(name: string, options?: CallOptions): Promise<GatewayPolicySet> {
    return this.#transport.data({ method: "GET", path: path`/gateway/policy-sets/${name}`, options });
  }

  /** Read a version of a policy set, such as the candidate of a rollout. */
  async policySetVersion(name: string, version: string, options?: CallOptions): Promise<GatewayPolicySet> {
    return this.#transport.data({
      method: "GET",
      path: path`/gateway/policy-sets/${name}/versions/${version}`,
      options,
    });
  }

  /** Look up the attributes of a user. */
  async user(key: string, options?: CallOptions): Promise<GatewayUser> {
    return this.#transport.data({ method: "GET", path: path`/gateway/users/${key}`, options });
  }

  /** Look up the caller whom an API key names. */
  async caller(hash: string, options?: CallOptions): Promise<GatewayCaller> {
    return this.#transport.data({ method: "GET", path: path`/gateway/callers/${hash}`, options });
  }

  /** Report what a gateway is and enforces. */
  async register(body: GatewayRegistration, options?: CallOptions): Promise<TakenRegistration> {
    return this.#transport.data({ method: "POST", path: path`/gateway/registration`, body, options });
  }

  /** Ingest audit records of a gateway. */
  async records(body: GatewayRecords, options?: CallOptions): Promise<TakenRecords> {
    return this.#transport.data({ method: "POST", path: path`/gateway/records`, body, options });
  }

  /** Ingest statistics of a gateway. */
  async statistics(body: GatewayStatistics, options?: CallOptions): Promise<TakenStatistics> {
    return this.#transport.data({ method: "POST", path: path`/gateway/statistics`, body, options });
  }

  /** Report what a gateway has seen of a rollout. */
  async reportRollout(body: RolloutReport, options?: CallOptions): Promise<TakenRolloutReport> {
    return this.#transport.data({ method: "POST", path: path`/gateway/rollout-reports`, body, options });
  }
}
