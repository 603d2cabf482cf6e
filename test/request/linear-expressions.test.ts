import assert from "node:assert/strict";
import redos from "eslint-plugin-redos";
import { ESLint, Linter } from "eslint";

const RULE = "redos/no-vulnerable";

/** Of the former Content-Type reader: 60,000 blanks took it 6.6 s. */
const FORMER_PARAMETER = String.raw`/;[ \t]*(?:([\w-]+)=([\w-]+|"(?:[^"\\]|\\.)*"))?[ \t]*(?=;|$)/iy`;

const REFUSED: Readonly<Record<string, string>> = {
  "adjacent blanks": FORMER_PARAMETER,
  "blanks at the end": String.raw`/[ \t]+$/`,
  "nested repetition": "/^(a+)+$/",
  "overlapping alternatives": "/^(?:a|aa)+$/",
  "neighbours of one character": String.raw`/^\s*(.*)$/`,
  "two ways to split": String.raw`/^\d+\.?\d+$/`,
};

const ACCEPTED: Readonly<Record<string, string>> = {
  token: "/[!#$%&'*+.^_`|~0-9a-z-]+/iy",
  "quoted string": String.raw`/"(?:[^"\\]|\\.)*"/y`,
  "blanks at the end, from their beginning": String.raw`/(?<![ \t])[ \t]+$/`,
  "parts that begin with a character of their own": String.raw`/^(?:\/[a-z]*)*$/`,
};

describe("expressions over request text", () => {
  let configured: Linter.RulesRecord;

  before(async () => {
    configured = await rulesFor("src/request/body/media-type.ts");
  });

  const findings = (expression: string): (string | null)[] =>
    new Linter()
      .verify(`export const found = ${expression}.exec(text);`, {
        plugins: { redos },
        rules: { [RULE]: configured[RULE] ?? "off" },
      })
      .map(({ ruleId }) => ruleId);

  for (const [title, expression] of Object.entries(REFUSED)) {
    it(`lint refuses one that is not linear: ${title}`, () => {
      assert.deepEqual(findings(expression), [RULE]);
    });
  }

  for (const [title, expression] of Object.entries(ACCEPTED)) {
    it(`lint accepts one that is: ${title}`, () => {
      assert.deepEqual(findings(expression), []);
    });
  }

  for (const room of [
    "request/canonicalize",
    "graphql/evaluate",
    "identity/extract-token",
    "extauthz/decode",
  ]) {
    it(`are looked at in src/${room}.ts`, async () => {
      const rules = await rulesFor(`src/${room}.ts`);
      for (const rule of [RULE, "no-restricted-syntax"])
        assert.ok([rules[rule]].flat().includes(2), `${rule} is off`);
    });
  }
});

async function rulesFor(file: string): Promise<Linter.RulesRecord> {
  const { rules } = (await new ESLint().calculateConfigForFile(file)) as { rules: Linter.RulesRecord };
  return rules;
}
