export { createHttpApis } from "./api.ts";
export type { HttpApis } from "./http-api.ts";
export { createAskAws, type AskAws, type AwsAnswer, type AwsSettings } from "./aws/index.ts";
export type { AuthzenSettings } from "./authzen/index.ts";
export { createHttpDoors, DOOR_ABILITIES, type HttpDoors } from "./doors.ts";
export { haproxy } from "./haproxy.ts";
export {
  atDoors,
  callersByPath,
  HTTP_DOOR_PATHS,
  type DoorCallers,
  type HttpDoorName,
} from "./offered-doors.ts";
export {
  AUTHORIZER_REFUSALS,
  startAuthorizers,
  type AuthorizerRefusal,
  type Authorizers,
  type AuthorizersOptions,
} from "./server.ts";
export { startSpop, type AskHaproxy } from "./spop-server.ts";
