/** The routes that gateways call, under `/v1`. Parts in braces are placeholders. */
export const GATEWAY_ROUTES = {
  state: "/gateway/state",
  policySet: "/gateway/policy-sets/{name}",
  policySetVersion: "/gateway/policy-sets/{name}/versions/{version}",
  user: "/gateway/users/{key}",
  caller: "/gateway/callers/{hash}",
  records: "/gateway/records",
  statistics: "/gateway/statistics",
  registration: "/gateway/registration",
  rolloutReports: "/gateway/rollout-reports",
} as const;

/** @returns the path with its placeholders filled in, in their order */
export function pathTo(route: string, ...values: readonly string[]): string {
  return values.reduce((path, value) => path.replace(/\{\w+\}/, () => encodeURIComponent(value)), route);
}

/** The name that a gateway gives itself. The audit trail stores it with each of its records. */
export const GATEWAY_NAME_HEADER = "X-Gatehouse-Gateway";

const GATEWAY_NAME = /^[\x21-\x7e]{1,128}$/;

export function isGatewayName(text: string): boolean {
  return GATEWAY_NAME.test(text);
}

/** @returns the name of a gateway on this host */
export function gatewayNameOn(hostname: string): string {
  return hostname.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 128) || "unnamed";
}
