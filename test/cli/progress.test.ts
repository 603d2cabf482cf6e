import assert from "node:assert/strict";
import { progressBar } from "../../src/cli/progress.ts";

describe("cli: progress", () => {
  const { isTTY } = process.stderr;
  const write = process.stderr.write.bind(process.stderr);
  let written: string[] = [];
  beforeEach(() => {
    written = [];
    process.stderr.write = (text: string | Uint8Array) => {
      written.push(String(text));
      return true;
    };
  });
  afterEach(() => {
    process.stderr.write = write;
    process.stderr.isTTY = isTTY;
  });

  it("is a bar at a terminal, and is wiped at the end", () => {
    process.stderr.isTTY = true;
    const bar = progressBar(200, " of the records");
    bar.update(50);
    // not for every record
    bar.update(51);
    bar.end();
    assert.equal(written[0], `\r[${"#".repeat(8)}${".".repeat(22)}] 25 % of the records`);
    assert.equal(written.length, 2);
    assert.match(written[1] ?? "", /^\r +\r$/);
    const [shown = "", wiped = ""] = written;
    assert.ok(wiped.length - 2 >= shown.length - 1);
  });

  it("says how much was done where nobody knows how much there is", () => {
    process.stderr.isTTY = true;
    progressBar(undefined).update(12_345_678);
    assert.deepEqual(written, ["\r12 MB"]);
    written = [];
    progressBar(0).update(0);
    assert.match(written[0] ?? "", / 100 %$/);
  });

  it("shows nothing elsewhere: in a log, it would be noise", () => {
    process.stderr.isTTY = false;
    const bar = progressBar(10);
    bar.update(5);
    bar.end();
    assert.deepEqual(written, []);
  });
});
