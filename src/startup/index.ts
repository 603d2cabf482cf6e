export { assertFileHolds, assertFileIsWritable, assertFolderIsWritable } from "./files.ts";
export { hostPort } from "./host-port.ts";
export { assertPortIsFree, cannotListen, type WantedPort } from "./ports.ts";
