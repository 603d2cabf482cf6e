export { DECISION, EXTENSION, HEADER, NAMESPACE } from "../envoy-contract.ts";

export const EXT_AUTHZ_FILTER_TYPE = "ExtAuthz";
