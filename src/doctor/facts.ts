import type { GatewayConfig } from "../config/index.ts";
import type { Address, EnvoyView } from "./envoy-view.ts";

/** Everything that the checks look at; gathered beforehand, so that they need no network. */
export interface Facts {
  /** `undefined` without an Envoy to look at. */
  readonly envoy: EnvoyView | undefined;
  /** The cluster, or the address, at which Envoy asks Gatehouse, if it was named. */
  readonly authzCluster?: string | undefined;
  /** Envoy's own version (`1.40.0`), if it told. */
  readonly envoyVersion: string | undefined;
  /** The version that this release was tested with. */
  readonly testedVersion: string;
  /** `gateway.yaml`, if there is one. */
  readonly config: GatewayConfig | undefined;
  /** What the policy set needs from Envoy; `undefined` if it is not known. */
  readonly needs: PolicyNeeds | undefined;
  /** The Lua filters of this release, by name. */
  readonly lua: ReadonlyMap<string, string>;
  /** Addresses of applications that answered a connection that did not come from Envoy. */
  readonly reachable: readonly { readonly cluster: string; readonly address: Address }[];
  /** Seconds by which other clocks are ahead of the one here. */
  readonly clocks: readonly { readonly of: string; readonly aheadSeconds: number }[];
  /** What could not be gathered. */
  readonly gaps: readonly { readonly where: string; readonly detail: string }[];
}

export interface PolicyNeeds {
  /** Rules read the body of requests. */
  readonly body: boolean;
  /** Rules for responses, GraphQL fields or messages. */
  readonly plans: boolean;
}
