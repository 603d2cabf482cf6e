import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What holder.ts says once it uses the server, or why it cannot. */
export interface Held {
  readonly adopted: boolean;
  readonly pid: number;
  readonly url: string;
  readonly error?: string;
}

export interface Holder {
  readonly process: ChildProcess;
  readonly held: Promise<Held>;
  /** What it has logged. */
  log(): string;
  /** Lets it leave in good order. */
  leave(): Promise<void>;
  kill9(): Promise<void>;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

const children = new Set<ChildProcess>();
const HOLDER = fileURLToPath(new URL("holder.ts", import.meta.url));

/** Starts holder.ts on a data directory, as another user where one is named. */
export function hold(dataDirectory: string, user: User | Record<string, never> = {}): Holder {
  const child = spawn(process.execPath, [HOLDER, dataDirectory], {
    ...user,
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.add(child);
  let logged = "";
  child.stderr.on("data", (chunk: Buffer) => (logged += chunk.toString()));
  child.stdin.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => {
      children.delete(child);
      resolve();
    });
  });
  const held = new Promise<Held>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve(JSON.parse(line) as Held);
    });
    void exited.then(() => {
      reject(new Error(`the holder has ended: ${logged}`));
    });
  });
  // killed before it says anything, where nobody waits for that
  held.catch(() => undefined);
  return {
    process: child,
    held,
    log: () => logged,
    async leave() {
      child.stdin.end();
      await exited;
    },
    async kill9() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Ends what a failed test has left. */
export async function endHolders(): Promise<void> {
  await Promise.all(
    [...children].map(
      (child) =>
        new Promise((resolve) => {
          child.once("close", resolve);
          child.kill("SIGKILL");
        }),
    ),
  );
}

/** A user without rights, that can read this checkout; undefined when this process may not become another user. */
export function otherUser(name: "nobody" | "games" = "nobody"): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: string) => Number(spawnSync("id", [what, name]).stdout.toString());
  const user = { uid: idOf("-u"), gid: idOf("-g") };
  return spawnSync(process.execPath, ["--check", HOLDER], { ...user, cwd: "/" }).status === 0
    ? user
    : undefined;
}
