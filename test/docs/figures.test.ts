import assert from "node:assert/strict";
import { CHECKED_PAGES } from "./support/blocks.ts";
import { paragraphsOf, problemsOfComment, tellsFigures, type Results } from "./support/figures.ts";

/** Pages about the source say what its limits are. */
const pages = CHECKED_PAGES.filter((page) => !/^(?:src|test|envoy|proto)\//.test(page));
const SIZING = "docs/operations/sizing.md";
const paragraphs = pages.flatMap((page) => paragraphsOf(page));

describe("docs: figures that were measured", () => {
  it("have their source beside them", () => {
    const told = paragraphs.filter((paragraph) => tellsFigures(paragraph));
    assert.ok(told.length >= 20, String(told.length));
    assert.deepEqual(
      told
        .filter(({ comments }) => !comments.some((comment) => /^(?:bench: |measured )/.test(comment)))
        // a row that ends with its source, which test/operations/sizing.test.ts compares
        .filter(({ page, text }) => page !== SIZING || !/ \| [\w-]+: (?:[^|]+; )?\w+$/.test(text))
        .map(({ page, line, text }) => `${page}:${line}: ${text.slice(0, 120)}`),
      [],
    );
  });

  it("agree with the results of the benchmarks", () => {
    const problems = paragraphs.flatMap(({ page, line, text, comments }) =>
      comments.flatMap((comment) =>
        problemsOfComment(comment, text).map((problem) => `${page}:${line}: ${problem}`),
      ),
    );
    assert.deepEqual(problems, []);
  });
});

describe("docs: the source of a figure", () => {
  const results: Results = {
    a: [
      { what: "x, y", n: 10, ms: 241 },
      { what: "z", n: 20, ms: 12.34 },
    ],
    machine: {},
  };
  const problems = (comment: string, text = "") => problemsOfComment(comment, text, results);

  it("is rows of the results and what holds for them", () => {
    for (const claim of [
      "a [what=x, y, n=10] ms < 242",
      "a ms > 12",
      "a [n=20] ms in 12..13",
      "a [n=10] ms < 300; a [n=20] ms < 13",
    ])
      assert.deepEqual(problems(`bench: ${claim}`), [], claim);
    for (const claim of [
      "a [what=x, y] ms < 241",
      "a ms > 13",
      "a [n=20] ms in 13..14",
      "a [n=1] ms < 9",
      "a [n=10] s < 9",
      "b ms < 1",
      "machine ms < 1",
      "a ms",
    ])
      assert.equal(problems(`bench: ${claim}`).length, 1, claim);
  });

  it("or a figure of the text, as precisely as it is there", () => {
    assert.deepEqual(problems("bench: a [n=10] ms = 240", "about 240 ms"), []);
    assert.deepEqual(problems("bench: a [n=20] ms = 12.3", "12.3 ms"), []);
    assert.equal(problems("bench: a [n=20] ms = 12.3", "12 ms").length, 1);
    assert.equal(problems("bench: a [n=20] ms = 12.4", "12.4 ms").length, 1);
  });

  it("or a day and a way; other comments are none", () => {
    assert.deepEqual(problems("measured 2026-11-22: two runs"), []);
    assert.equal(problems("measured long ago").length, 1);
    assert.deepEqual(problems("end"), []);
  });

  it("is missed where a paragraph tells of measuring", () => {
    const tells = (text: string, linksToBench = false, page = "docs/a.md") =>
      tellsFigures({ page, text, linksToBench });
    assert.ok(tells("It took 5 ms in two runs."));
    assert.ok(tells("It needs less than a second.", true));
    assert.ok(tells("A logout reaches every gateway within a second."));
    assert.ok(tells("It is there in under a second or half a second later."));
    assert.ok(tells("A worker answers 4,650 requests with tokens per second."));
    // the benchmarks' own page says what its tables are of
    assert.ok(!tells("Beside 20,000 requests per second.", false, "bench/README.md"));
    assert.ok(!tells("It is tried again within seconds, at most 20 keys per second."));
    assert.ok(!tells("The default is 5 ms. It is measured."));
  });
});
