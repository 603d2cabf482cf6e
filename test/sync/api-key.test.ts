import assert from "node:assert/strict";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiKeyInFile, ControlPlaneClient, ControlPlaneError, type ApiKey } from "../../src/sync/index.ts";
import { eventually } from "../support/eventually.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("following: the API key in a file", () => {
  let folder: string;
  let path: string;
  let key: ApiKey | undefined;
  let said: string[];
  const say = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`);
  const open = () => (key = apiKeyInFile(path, { info: say, error: say }));

  beforeEach(async () => {
    folder = await temporaryDirectory();
    path = join(folder, "gateway.key");
    said = [];
    await writeFile(path, "first-key\n");
  });
  afterEach(async () => {
    key?.close();
    await rm(folder, { recursive: true });
  });

  const replace: Readonly<Record<string, (text: string) => Promise<void>>> = {
    "written over": (text) => writeFile(path, text),
    "replaced by another file": async (text) => {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    },
    "replaced by a link": async (text) => {
      await writeFile(join(folder, "other"), text);
      await symlink("other", `${path}.new`);
      await rename(`${path}.new`, path);
    },
  };
  for (const [how, put] of Object.entries(replace)) {
    it(`is read again when it is ${how}, and tells of it once`, async () => {
      const opened = open();
      let changes = 0;
      opened.onChange(() => (changes += 1));
      assert.equal(opened.current, "first-key");
      await put("second-key\n");
      await eventually("the second key", () => opened.current === "second-key");
      await opened.refresh();
      assert.equal(changes, 1);
      assert.ok(!said.some((text) => /first-key|second-key/.test(text)), said.join("\n"));
    });
  }

  for (const [what, text] of [
    ["is empty", ""],
    ["holds two words", "Bearer third-key"],
    ["holds more than ASCII", "ключ"],
  ] as const) {
    it(`stays the last one while the file ${what}, which is said once and not repeated`, async () => {
      const opened = open();
      await writeFile(path, text);
      await opened.refresh();
      await opened.refresh();
      assert.equal(opened.current, "first-key");
      assert.equal(said.filter((one) => one.startsWith("could not reload the API key")).length, 1);
      assert.ok(text === "" || !said.join().includes(text));
      await writeFile(path, "fourth-key");
      await opened.refresh();
      assert.equal(opened.current, "fourth-key");
    });
    it(`is none where the file ${what} at the start`, async () => {
      await writeFile(path, text);
      assert.throws(
        open,
        (error: Error) => error instanceof TypeError && (text === "" || !error.message.includes(text)),
      );
    });
  }

  it("stays the last one while there is no file", async () => {
    const opened = open();
    await rm(path);
    await opened.refresh();
    assert.equal(opened.current, "first-key");
    assert.match(said.join(), /could not reload/);
  });

  describe("of a client", () => {
    let plane: FakeControlPlane;
    let client: ControlPlaneClient;
    beforeEach(async () => {
      plane = await FakeControlPlane.start();
      await writeFile(path, plane.apiKey);
    });
    afterEach(async () => {
      client.close();
      await plane.close();
    });
    /** A key that learns nothing of changes by itself, as on a file system that cannot be watched. */
    const unwatched = (): ApiKey => {
      const opened = open();
      let current = opened.current;
      return {
        ...opened,
        get current() {
          return current;
        },
        async refresh() {
          await opened.refresh();
          ({ current } = opened);
        },
      };
    };

    it("is read again when it is refused, and the call is made with the new one", async () => {
      await writeFile(path, "revoked-key");
      client = new ControlPlaneClient({ url: plane.url, apiKey: unwatched() });
      await writeFile(path, plane.apiKey);
      plane.setUser("usr_1", { department: "sales" });
      // whatever the watch has noticed: a client that holds the refused key learns of the next one by being refused
      assert.equal((await client.user("usr_1"))?.["department"], "sales");
      assert.deepEqual(
        plane.askedFor("users/usr_1").map(({ authorization }) => authorization),
        ["Bearer revoked-key", `Bearer ${plane.apiKey}`],
      );
    });

    for (const [status, code] of [
      [401, "API_KEY_REVOKED"],
      [403, "INSUFFICIENT_SCOPE"],
    ] as const)
      it(`is read again, and the call made once, where the file has the key that is refused (${status})`, async () => {
        client = new ControlPlaneClient({ url: plane.url, apiKey: unwatched() });
        plane.fault = () => ({ status, code });
        await assert.rejects(
          client.user("usr_1"),
          (error) => error instanceof ControlPlaneError && error.code === code,
        );
        assert.equal(plane.askedFor("users/usr_1").length, 1);
      });

    it("is not read again for other failures", async () => {
      client = new ControlPlaneClient({ url: plane.url, apiKey: unwatched() });
      plane.fault = () => ({ status: 503 });
      await writeFile(path, "another-key");
      await assert.rejects(client.user("usr_1"));
      await assert.rejects(client.user("usr_1"));
      assert.deepEqual(
        new Set(plane.asked.map(({ authorization }) => authorization)),
        new Set([`Bearer ${plane.apiKey}`]),
      );
    });
  });
});
