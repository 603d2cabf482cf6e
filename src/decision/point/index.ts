/** The decision point, and the interface between it and a door. */
export type { CarriedPlan } from "./carried-plan.ts";
export { DecisionPoint } from "./decision-point.ts";
export { GIVEN_UP } from "./door.ts";
export type { DecodedCheck, DoorAbilities, DoorCall, Door, Effects, Encoder, Task } from "./door.ts";
export { enforceable, keptHeader } from "./enforceable.ts";
export {
  createIdentifyConnection,
  type IdentifiedConnection,
  type IdentifyConnection,
} from "./identify-connection.ts";
export { createLoadShedding } from "./load-shedding.ts";
export { nextDecisionId } from "./record.ts";
export { findUnenforceable, type Unenforceable } from "./unenforceable-rules.ts";
export { serveDoor, type ServingDependencies } from "./serve-door.ts";
export type { UnknownParts } from "../types.ts";
export {
  createUpstreamHeaders,
  type HeaderChanges,
  type UpstreamHeadersOptions,
} from "./upstream-headers.ts";
