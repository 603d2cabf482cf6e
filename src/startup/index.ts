export { assertFileIsWritable, assertFolderIsWritable } from "./files.ts";
export { assertPortIsFree, cannotListen, type WantedPort } from "./ports.ts";
