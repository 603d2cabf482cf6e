import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(`${ROOT}README.md`, "utf8");

describe("operations: the README", () => {
  it("is one screen", () => {
    const lines = readme.trimEnd().split("\n").length;
    assert.ok(lines <= 70, `${lines} lines: what is more belongs to a page that it links to`);
  });
});

describe("operations: the README's pictures", () => {
  it("are there, and say in words what they show", () => {
    const pictures = [
      ...[...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, alt = "", file = ""]) => ({ alt, file })),
      ...[...readme.matchAll(/<img src="([^"]+)" alt="([^"]+)"/g)].map(([, file = "", alt = ""]) => ({
        alt,
        file,
      })),
    ];
    assert.equal(pictures.length, 4);
    for (const { alt, file } of pictures) {
      assert.ok(existsSync(ROOT + file), file);
      assert.ok(alt.length > 40, `${file}: ${alt}`);
    }
  });

  it("the drawing has one content in two themes", () => {
    const [light = "", dark = ""] = ["light", "dark"].map((theme) => {
      const file = `docs/images/architecture-${theme}.svg`;
      assert.ok(readme.includes(`"${file}"`), file);
      return readFileSync(ROOT + file, "utf8");
    });
    const style = /<style>.*?<\/style>/s;
    assert.notEqual(style.exec(light)?.[0], style.exec(dark)?.[0]);
    assert.equal(light.replace(style, ""), dark.replace(style, ""));
    assert.match(light, /role="img" aria-labelledby="title desc"/);
    for (const name of ["title", "desc"])
      assert.match(light, new RegExp(`<${name} id="${name}">[^<]{20,}</${name}>`));
    // colours alone: nothing is loaded, and nothing runs
    assert.doesNotMatch(light, /<script|href=|url\((?!#)|@import|\son\w+=/);
  });
});
