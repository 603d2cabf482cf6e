import { constants } from "node:fs";
import { access, mkdir, open, readFile, stat } from "node:fs/promises";
import { errorCode } from "../runtime/error-code.ts";
import { errorMessage } from "../text/index.ts";

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/**
 * @param setting - the key of the configuration that names the file
 * @param mode - of a file that is not there yet
 * @throws Error of one line where nothing can be appended to the file
 */
export async function assertFileIsWritable(setting: string, path: string, mode: number): Promise<void> {
  try {
    const found = await stat(path).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    });
    // opening and closing a FIFO would tell its reader that no more will come
    if (found === undefined || found.isFile() || found.isDirectory())
      await (await open(path, FLAGS, mode)).close();
    else await access(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new Error(`${setting}: \`${path}\` cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Makes a folder where it is missing.
 *
 * @throws Error of one line where no file can be made in it
 */
export async function assertFolderIsWritable(setting: string, path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`${setting}: \`${path}\` cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * @param check - throws where the file does not hold what it should; its message is about the content, and does not repeat it
 * @throws Error of one line where the file cannot be read or fails the check
 */
export async function assertFileHolds(
  setting: string,
  path: string,
  check: (text: string) => void,
): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = errorCode(error) === "ENOENT" ? "there is no such file" : reasonOf(error);
    throw new Error(`${setting}: \`${path}\` cannot be read: ${reason}`, { cause: error });
  });
  try {
    check(text);
  } catch (error) {
    throw new Error(`${setting}: \`${path}\`: ${reasonOf(error)}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "it is no folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ELOOP: "its links lead in a circle",
};

function reasonOf(error: unknown): string {
  return REASONS[errorCode(error) ?? ""] ?? errorMessage(error);
}
