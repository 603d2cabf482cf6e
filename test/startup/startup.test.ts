import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, open, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  assertFileIsWritable,
  assertFolderIsWritable,
  assertPortIsFree,
  cannotListen,
} from "../../src/startup/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("startup: ports", () => {
  const setting = "gateway.listen_port";

  for (const [host, name] of [
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "\\[::1\\]"],
  ] as const) {
    it(`a port of ${host} is free, or taken by a process that is named`, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      const { port } = server.address() as AddressInfo;
      try {
        await assert.rejects(
          assertPortIsFree({ setting, host, port }),
          new RegExp(
            `^Error: gateway\\.listen_port: ${name}:${port} is in use by \`.+\` \\(process ${process.pid}\\); stop that process or set another port$`,
          ),
        );
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
      await assertPortIsFree({ setting, host, port });
      await assertPortIsFree({ setting, host, port });
    });
  }

  it("names the process that has the address, and not one that has the same port of another", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const script = `require("net").createServer().listen(${port}, "127.0.0.2", () => console.log("there"))`;
    const other = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(other.stdout, "data");
      for (const [host, pid] of [
        ["127.0.0.1", process.pid],
        ["127.0.0.2", other.pid],
      ] as const)
        await assert.rejects(assertPortIsFree({ setting, host, port }), new RegExp(`\\(process ${pid}\\)`));
    } finally {
      other.kill();
      server.close();
    }
  });

  it("any port is free", () => assertPortIsFree({ setting, host: "127.0.0.1", port: 0 }));

  it("an address has to be one of this machine", async () => {
    // RFC 5737: documentation
    await assert.rejects(assertPortIsFree({ setting, host: "203.0.113.1", port: 8000 }), {
      message: "gateway.listen_port: `203.0.113.1` is not an address of this machine",
    });
  });

  it("what the user may not do is said, and other errors stay what they are", async () => {
    const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
    const told = await cannotListen({ setting, host: "::", port: 80 }, denied);
    assert.equal(
      String(told),
      "Error: gateway.listen_port: permission denied to listen on [::]:80; set a port of 1024 or above",
    );
    const other = new Error("something else");
    assert.equal(await cannotListen({ setting, host: "::", port: 80 }, other), other);
  });
});

describe("startup: files", () => {
  let folder: string;
  before(async () => {
    folder = await temporaryDirectory();
  });
  const file = (name: string) => assertFileIsWritable("audit.path", join(folder, name), 0o640);

  it("a file that is missing is made, and one that is there stays as it is", async () => {
    await file("new.log");
    assert.equal((await stat(join(folder, "new.log"))).mode & 0o777, 0o640);
    await writeFile(join(folder, "old.log"), "a line\n");
    await chmod(join(folder, "old.log"), 0o600);
    await file("old.log");
    assert.equal(await readFile(join(folder, "old.log"), "utf8"), "a line\n");
    assert.equal((await stat(join(folder, "old.log"))).mode & 0o777, 0o600);
  });

  it("a FIFO that nobody reads yet is waited for by nobody, and who reads it goes on", async () => {
    const fifo = join(folder, "fifo");
    await promisify(execFile)("mkfifo", [fifo]);
    await file("fifo");
    const reader = spawn("cat", [fifo]);
    try {
      let read = "";
      reader.stdout.on("data", (chunk: Buffer) => (read += chunk.toString()));
      const ended = once(reader, "exit");
      const writer = await open(fifo, "w"); // waits for the reader
      await file("fifo");
      await writer.write("a record\n");
      await writer.close();
      await ended;
      assert.equal(read, "a record\n");
    } finally {
      reader.kill();
    }
  });

  it("what cannot be written is said in one line, with the reason", async () => {
    await mkdir(join(folder, "folder"));
    await writeFile(join(folder, "file"), "");
    await symlink("circle", join(folder, "circle"));
    const reasons = {
      "nowhere/audit.log": "its folder does not exist",
      folder: "it is a folder",
      "file/audit.log": "a part of the path is not a folder",
      circle: "too many levels of symbolic links",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      await assert.rejects(file(name), {
        message: `audit.path: cannot write \`${join(folder, name)}\`: ${reason}`,
      });
    }
  });

  it("a folder is made where it is missing, and has to be one", async () => {
    const of = (name: string) => assertFolderIsWritable("audit.spool_directory", join(folder, name));
    await of("spool/deep");
    await of("spool/deep");
    assert.ok((await stat(join(folder, "spool/deep"))).isDirectory());
    await writeFile(join(folder, "no-folder"), "");
    await assert.rejects(of("no-folder"), { message: /^audit\.spool_directory: .*: it is not a folder$/ });
    await assert.rejects(of("no-folder/below"), { message: /: a part of the path is not a folder$/ });
  });
});
