/** The routes that gateways call, under `/v1`. A part in braces is filled in. */
export const GATEWAY_ROUTES = {
  state: "/gateway/state",
  policySet: "/gateway/policy-sets/{name}",
  user: "/gateway/users/{key}",
  records: "/gateway/records",
  statistics: "/gateway/statistics",
} as const;

/** @returns a path whose only variable part is filled in */
export function pathTo(route: string, value: string): string {
  return route.replace(/\{\w+\}/, () => encodeURIComponent(value));
}

/** What a gateway calls itself: the audit trail says it of each of its records. */
export const GATEWAY_NAME_HEADER = "X-Gatehouse-Gateway";

const GATEWAY_NAME = /^[\x21-\x7e]{1,128}$/;

export function isGatewayName(text: string): boolean {
  return GATEWAY_NAME.test(text);
}

/** @returns the name of a gateway on this host */
export function gatewayNameOn(hostname: string): string {
  return hostname.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 128) || "unnamed";
}
