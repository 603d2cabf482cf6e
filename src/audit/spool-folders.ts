import { readdir } from "node:fs/promises";
import { join } from "node:path";

const NAME = /^worker-(\d{1,6})$/;

/** The folder of one worker: a new process with this index delivers what its predecessor left. */
export function spoolFolder(root: string, worker: number): string {
  return join(root, `worker-${worker}`);
}

/** @returns folders of workers that no longer exist, because fewer are configured */
export async function abandonedFolders(root: string, workers: number): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  return names
    .filter((name) => Number(NAME.exec(name)?.[1] ?? -1) >= workers)
    .map((name) => join(root, name));
}
