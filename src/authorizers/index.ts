export { createHttpDoors, type HttpDoors } from "./doors.ts";
export { startAuthorizers, type Authorizers, type AuthorizersOptions } from "./server.ts";
