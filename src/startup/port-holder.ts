import { readdir, readFile, readlink } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { basename, join } from "node:path";

/** State LISTEN in the tables of proc_pid_net(5). */
const LISTEN = "0A";

/** A process, as shown to people. */
export interface PortHolder {
  readonly name: string;
  readonly pid: number;
}

/**
 * @param host - the requested address; other processes may use the same port on other addresses of the machine
 * @returns the process that listens on a TCP port of this machine; `undefined` if that is not known: on systems other than
 * Linux, or if it belongs to another user.
 */
export async function portHolder(host: string, port: number): Promise<PortHolder | undefined> {
  const sockets = await listeningSockets(host, port);
  if (sockets.size === 0) return undefined;
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(pid) || !(await hasOneOf(pid, sockets))) continue;
    return { name: await nameOf(pid), pid: Number(pid) };
  }
  return undefined;
}

/** The program and, for an interpreter, the script: `node gatehouse.js`. */
async function nameOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const [program = "", script = ""] = line.split("\0");
  const names = script === "" || script.startsWith("-") ? [program] : [program, script];
  return names.map((path) => basename(path)).join(" ");
}

/** Socket names as links in `/proc/<pid>/fd` show them: `socket:[inode]`. */
async function listeningSockets(host: string, port: number): Promise<ReadonlySet<string>> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const found = new Set<string>();
  for (const line of tables.join("\n").split("\n")) {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/ +/);
    const [address = "", itsPort] = local.split(":");
    if (state !== LISTEN || itsPort !== hex || inode === undefined) continue;
    if (meets(host, address)) found.add(`socket:[${inode}]`);
  }
  return found;
}

/** @param address - hexadecimal as in the kernel's tables: IPv4 in host byte order, which is little-endian */
function meets(host: string, address: string): boolean {
  if (!isIPv4(host) || host === "0.0.0.0" || /^0+$/.test(address)) return true;
  const bytes = host.split(".").reverse();
  return (
    address ===
    bytes
      .map((byte) => Number(byte).toString(16).padStart(2, "0"))
      .join("")
      .toUpperCase()
  );
}

async function hasOneOf(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const file of await readdir(folder).catch(() => [])) {
    const target = await readlink(join(folder, file)).catch(() => "");
    if (sockets.has(target)) return true;
  }
  return false;
}
