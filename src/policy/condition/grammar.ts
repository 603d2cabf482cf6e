import type { IToken } from "chevrotain";
import { quoted } from "../../text/index.ts";
import type { ConditionNode } from "./ast.ts";
import type { ConditionFinding } from "./finding.ts";
import { wordHint } from "./foreign.ts";
import { comparisonNode, logicalNode, membershipNode, notNode, SKIPPED } from "./nodes.ts";
import { OperandParser, OR_SKIPPED, type GrammarRule } from "./operand-grammar.ts";
import { findingOf, messages, TooManyErrors } from "./syntax-error.ts";
import * as token from "./tokens.ts";

/**
 * The grammar of conditions. Beyond the productions in the comments above the rules, it accepts common syntax of other
 * languages, reports it by name, and continues.
 */
class ConditionParser extends OperandParser {
  constructor() {
    super();
    this.performSelfAnalysis();
  }

  // condition = disjunction EOF
  readonly condition: GrammarRule = this.RULE("condition", () => this.SUBRULE(this.disjunction), OR_SKIPPED);

  // disjunction = conjunction { "or" conjunction }
  readonly disjunction: GrammarRule = this.RULE(
    "disjunction",
    () => {
      const args = [this.SUBRULE(this.conjunction)];
      this.MANY(() => {
        this.CONSUME(token.Or);
        args.push(this.SUBRULE2(this.conjunction));
      });
      return this.ACTION(() => logicalNode("or", args));
    },
    OR_SKIPPED,
  );

  // conjunction = negation { "and" negation }
  readonly conjunction: GrammarRule = this.RULE(
    "conjunction",
    () => {
      const args = [this.SUBRULE(this.negation)];
      this.MANY(() => {
        this.CONSUME(token.And);
        args.push(this.SUBRULE2(this.negation));
      });
      return this.ACTION(() => logicalNode("and", args));
    },
    OR_SKIPPED,
  );

  // negation = "not" negation | comparison
  readonly negation: GrammarRule = this.RULE(
    "negation",
    () =>
      this.OR([
        {
          ALT: () => {
            const not = this.CONSUME(token.Not);
            const arg = this.SUBRULE(this.negation);
            return this.ACTION(() => notNode(not, arg));
          },
        },
        { ALT: () => this.SUBRULE(this.comparison) },
      ]),
    OR_SKIPPED,
  );

  // comparison = operand [ ( comparator | [ "not" ] "in" ) operand ]
  readonly comparison: GrammarRule = this.RULE(
    "comparison",
    () => {
      let node = this.SUBRULE(this.operand);
      let compared = false;
      const inOrder = (operator: IToken): void => {
        if (compared) {
          const hint = "join two comparisons with `and`, or put one in parentheses";
          this.report(
            operator,
            "chained-comparison",
            `comparisons cannot be chained: ${quoted(operator.image)} follows another comparison`,
            hint,
          );
        }
        compared = true;
      };
      this.MANY({
        GATE: () => this.LA(1).tokenType !== token.Identifier || wordHint(this.LA(1).image) !== undefined,
        DEF: () => {
          this.OR([
            {
              ALT: () => {
                const operator = this.CONSUME(token.Comparator);
                const right = this.SUBRULE2(this.operand);
                this.ACTION(() => {
                  inOrder(operator);
                  node = comparisonNode(operator, node, right);
                });
              },
            },
            {
              ALT: () => {
                const not = this.OPTION(() => this.CONSUME(token.Not));
                const operator = this.CONSUME(token.In);
                const list = this.SUBRULE3(this.operand);
                this.ACTION(() => {
                  inOrder(operator);
                  node = membershipNode(node, list, not !== undefined);
                });
              },
            },
            {
              ALT: () => {
                const word = this.CONSUME(token.Identifier);
                this.ACTION(() => {
                  const { image } = word;
                  this.report(
                    word,
                    "unknown-operator",
                    `${quoted(image)} is not an operator`,
                    wordHint(image),
                  );
                });
                this.SUBRULE4(this.operand);
              },
            },
          ]);
        },
      });
      return node;
    },
    OR_SKIPPED,
  );
}

const parser = new ConditionParser();

/** Parses `tokens`, which are not nested too deeply. @returns a tree that is valid only if there are no findings. */
export function parseTokens(tokens: IToken[]): { ast: ConditionNode; findings: ConditionFinding[] } {
  parser.input = tokens;
  parser.found = [];
  messages.count = 0;
  let ast: ConditionNode = SKIPPED;
  try {
    ast = parser.condition();
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
  }
  return { ast, findings: [...parser.found, ...parser.errors.map(findingOf)] };
}
