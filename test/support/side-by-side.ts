// Loaded with --require where test files run side by side, in several processes.
import { shareFolder } from "./temporary-directory.ts";

export const mochaGlobalSetup = shareFolder;
