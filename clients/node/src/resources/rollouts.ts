import type { ListRolloutsQuery, NewRollout, Rollout, RolloutAbort, RolloutProgress } from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** The gradual activation of a version of a policy set. */
export class Rollouts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Read the rollout of a policy set, with what gateways report about it. */
  async get(name: string, options?: CallOptions): Promise<RolloutProgress> {
    return this.#transport.data({ method: "GET", path: path`/policy-sets/${name}/rollout`, options });
  }

  /** List the rollouts of a policy set. */
  list(name: string, query?: ListRolloutsQuery, options?: CallOptions): List<Rollout> {
    return new List(this.#transport, path`/policy-sets/${name}/rollouts`, query, options);
  }

  /** Start a rollout, or change the terms of the one that runs. */
  async start(name: string, body: NewRollout, options?: CallOptions): Promise<Rollout> {
    return this.#transport.data({ method: "POST", path: path`/policy-sets/${name}/rollout`, body, options });
  }

  /** Make the candidate the active version. */
  async promote(name: string, options?: CallOptions): Promise<Rollout> {
    return this.#transport.data({
      method: "POST",
      path: path`/policy-sets/${name}/rollout/promote`,
      options,
    });
  }

  /** Take the candidate back. */
  async abort(name: string, body?: RolloutAbort, options?: CallOptions): Promise<Rollout> {
    return this.#transport.data({
      method: "POST",
      path: path`/policy-sets/${name}/rollout/abort`,
      body,
      options,
    });
  }
}
