import type {
  ListPolicySetVersionsQuery,
  ListPolicySetsQuery,
  NewPolicySetVersion,
  PolicySet,
  PolicySetActivation,
  PolicySetToValidate,
  PolicySetValidation,
  PolicySetVersion,
  PolicySetVersionWithFiles,
} from "../api.ts";
import { List } from "../page.ts";
import { path } from "../path.ts";
import type { CallOptions, Transport } from "../transport.ts";

/** Published versions of policy sets. */
export class PolicySets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List policy sets. */
  list(query?: ListPolicySetsQuery, options?: CallOptions): List<PolicySet> {
    return new List(this.#transport, path`/policy-sets`, query, options);
  }

  /** Validate a policy set. */
  async validate(body: PolicySetToValidate, options?: CallOptions): Promise<PolicySetValidation> {
    return this.#transport.data({ method: "POST", path: path`/policy-sets/validate`, body, options });
  }

  /** Publish a version of a policy set. */
  async publish(body: NewPolicySetVersion, options?: CallOptions): Promise<PolicySetVersion> {
    return this.#transport.data({ method: "POST", path: path`/policy-sets`, body, options });
  }

  /** Read a policy set. */
  async get(name: string, options?: CallOptions): Promise<PolicySet> {
    return this.#transport.data({ method: "GET", path: path`/policy-sets/${name}`, options });
  }

  /** List the versions of a policy set. */
  listVersions(
    name: string,
    query?: ListPolicySetVersionsQuery,
    options?: CallOptions,
  ): List<PolicySetVersion> {
    return new List(this.#transport, path`/policy-sets/${name}/versions`, query, options);
  }

  /** Read a version of a policy set, with its files. */
  async getVersion(name: string, version: string, options?: CallOptions): Promise<PolicySetVersionWithFiles> {
    return this.#transport.data({
      method: "GET",
      path: path`/policy-sets/${name}/versions/${version}`,
      options,
    });
  }

  /** Activate a version of a policy set. */
  async activate(name: string, body: PolicySetActivation, options?: CallOptions): Promise<PolicySet> {
    return this.#transport.data({ method: "POST", path: path`/policy-sets/${name}/activate`, body, options });
  }

  /** Roll back to the previous version. */
  async rollBack(name: string, options?: CallOptions): Promise<PolicySet> {
    return this.#transport.data({ method: "POST", path: path`/policy-sets/${name}/rollback`, options });
  }
}
