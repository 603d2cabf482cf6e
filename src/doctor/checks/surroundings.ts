import { parseSocketAddress } from "../../config/index.ts";
import { objectAt } from "../dump.ts";
import { addressOf } from "../envoy-view.ts";
import type { Facts } from "../facts.ts";
import type { Finding } from "../finding.ts";
import { isLocal } from "./transport.ts";

/** What is around the filters: ports, versions, clocks, and settings of gateway.yaml. */
export function surroundings(facts: Facts): readonly Finding[] {
  return [
    ...admin(facts),
    ...reachable(facts),
    ...versions(facts),
    ...clocks(facts),
    ...settings(facts),
    ...gaps(facts),
  ];
}

function admin({ envoy }: Facts): readonly Finding[] {
  const address = addressOf(objectAt(envoy?.bootstrap, "admin", "address"));
  if (address === undefined || isLocal(address)) return [];
  return [{ code: "ADMIN_OPEN", where: "admin", detail: `${address.host}:${address.port}` }];
}

function reachable({ reachable: found }: Facts): readonly Finding[] {
  return found.map(({ cluster, address: { host, port } }) => ({
    code: "APPLICATION_REACHABLE",
    where: `cluster ${cluster}`,
    detail: `${host}:${port} accepts connections from here`,
  }));
}

/** Patch releases are alike; each minor release has other defaults. */
function versions({ envoyVersion, testedVersion }: Facts): readonly Finding[] {
  if (envoyVersion === undefined || minorOf(envoyVersion) === minorOf(testedVersion)) return [];
  return [{ code: "ENVOY_VERSION", where: "envoy", detail: `${envoyVersion}; tested with ${testedVersion}` }];
}

function minorOf(version: string): string {
  return version.split(".", 2).join(".");
}

const MOST_APART_SECONDS = 30;

function clocks({ clocks: known }: Facts): readonly Finding[] {
  return known
    .filter(({ aheadSeconds }) => Math.abs(aheadSeconds) > MOST_APART_SECONDS)
    .map(({ of, aheadSeconds }) => ({
      code: "CLOCKS_APART",
      where: of,
      detail: `${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? "ahead of" : "behind"} the clock here`,
    }));
}

function settings({ config }: Facts): readonly Finding[] {
  if (config === undefined) return [];
  const { audit, authz, gateway } = config;
  const found: Finding[] = [];
  const everybody = gateway.trusted_proxies.filter((range) => range.endsWith("/0"));
  if (!audit.enabled)
    found.push({ code: "AUDIT_OFF", where: "gateway.yaml", detail: "`audit.enabled: false`" });
  if (everybody.length > 0)
    found.push({
      code: "TRUSTS_EVERYBODY",
      where: "gateway.yaml",
      detail: `\`gateway.trusted_proxies\`: ${everybody.join(", ")}`,
    });
  const listening = parseSocketAddress(authz.listen);
  if (
    listening !== undefined &&
    !isLocal({ ...listening, host: listening.address }) &&
    authz.tls.certificate === undefined
  )
    found.push({ code: "SERVICE_OPEN", where: "gateway.yaml", detail: `\`authz.listen: ${authz.listen}\`` });
  return found;
}

function gaps({ envoy, gaps: others }: Facts): readonly Finding[] {
  const refused = (envoy?.refused ?? []).map(({ where, error }): Finding => ({
    code: "UPDATE_REFUSED",
    where,
    detail: error,
  }));
  const lacking = [...(envoy?.gaps ?? []), ...others];
  const unnamed = (envoy?.chains ?? []).filter(({ filters }) => filters.some(({ type }) => type === ""));
  return [
    ...refused,
    ...lacking.map(({ where, detail }): Finding => ({ code: "NOT_CHECKED", where, detail })),
    ...unnamed.map(({ where }): Finding => ({
      code: "NOT_CHECKED",
      where,
      detail: "a filter without a configuration",
    })),
  ];
}
