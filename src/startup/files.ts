import { constants } from "node:fs";
import { access, mkdir, open, readFile, stat } from "node:fs/promises";
import { errorCode } from "../runtime/error-code.ts";
import { errorMessage } from "../text/index.ts";

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/**
 * @param setting - the key of the configuration that names the file
 * @param mode - permissions for a file that does not exist yet
 * @throws Error with a one-line message if nothing can be appended to the file
 */
export async function assertFileIsWritable(setting: string, path: string, mode: number): Promise<void> {
  try {
    const found = await stat(path).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    });
    // opening and closing a FIFO would signal end-of-file to its reader
    if (found === undefined || found.isFile() || found.isDirectory())
      await (await open(path, FLAGS, mode)).close();
    else await access(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new Error(`${setting}: cannot write \`${path}\`: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Creates a folder if it does not exist.
 *
 * @throws Error with a one-line message if no file can be created in it
 */
export async function assertFolderIsWritable(setting: string, path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`${setting}: cannot write \`${path}\`: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * @param check - throws if the content is wrong; its message must not quote the content
 * @throws Error with a one-line message if the file is not readable or fails the check
 */
export async function assertFileHolds(
  setting: string,
  path: string,
  check: (text: string) => void,
): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = errorCode(error) === "ENOENT" ? "no such file" : reasonOf(error);
    throw new Error(`${setting}: cannot read \`${path}\`: ${reason}`, { cause: error });
  });
  try {
    check(text);
  } catch (error) {
    throw new Error(`${setting}: \`${path}\`: ${reasonOf(error)}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "it is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ELOOP: "too many levels of symbolic links",
};

function reasonOf(error: unknown): string {
  return REASONS[errorCode(error) ?? ""] ?? errorMessage(error);
}
