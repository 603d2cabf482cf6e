import assert from "node:assert/strict";
import { differences } from "../../release/check.ts";

describe("release: made twice from one commit", function () {
  this.timeout(1_200_000);

  it("has the same bytes, whatever folder, umask, time zone and language", async () => {
    const { files, differ } = await differences();
    assert.deepEqual(differ, []);
    const kinds = files.map((name) => name.replace(/\d+\.\d+\.\d+[a-z0-9.]*?(?=-py3|\.t|$)/, "X"));
    assert.deepEqual(kinds, [
      "RELEASE_NOTES.md",
      "SHA256SUMS",
      "gatehouse-access-X.tgz",
      "gatehouse-access-gatehouse-X.tgz",
      "gatehouse-chart-X.tgz",
      "gatehouse-images-X.tar.gz",
      "gatehouse_access-X-py3-none-any.whl",
      "gatehouse_access-X.tar.gz",
    ]);
  });
});
