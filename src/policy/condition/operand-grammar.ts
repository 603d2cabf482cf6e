import { EmbeddedActionsParser, type IToken, type ParserMethod, type TokenType } from "chevrotain";
import { quoted } from "../../text/index.ts";
import type { AttributeNode, ConditionNode, LiteralNode, TextSpan } from "./ast.ts";
import { callNode, methodNode } from "./calls.ts";
import { errorAt, type ConditionFinding } from "./finding.ts";
import { tokenSpan } from "./lex.ts";
import { between, literalNode, SKIPPED } from "./nodes.ts";
import { messages } from "./syntax-error.ts";
import * as token from "./tokens.ts";

export type GrammarRule<Result = ConditionNode> = ParserMethod<[], Result>;

interface Arguments extends TextSpan {
  readonly nodes: readonly ConditionNode[];
}

/** Maximum length of a path, in names. */
export const MAX_PATH = 64;

/** A rule that error recovery abandons still returns a node. */
export const OR_SKIPPED = { recoveryValueFunc: (): ConditionNode => SKIPPED };

/** The lower half of the grammar: operands. */
export abstract class OperandParser extends EmbeddedActionsParser {
  /** Mistakes in text that could be parsed. */
  found: ConditionFinding[] = [];

  constructor() {
    super(token.VOCABULARY, { recoveryEnabled: true, maxLookahead: 2, errorMessageProvider: messages });
  }

  /** The upper half of the grammar, all of which is allowed again within brackets. */
  abstract readonly disjunction: GrammarRule;

  // operand = primary [ "." method "(" disjunction ")" ]
  readonly operand: GrammarRule = this.RULE(
    "operand",
    () => {
      let node = this.SUBRULE(this.primary);
      let calls = 0;
      this.MANY(() => {
        this.CONSUME(token.Dot);
        const name = this.CONSUME(token.Name);
        const args = this.OPTION(() => this.SUBRULE(this.arguments));
        this.ACTION(() => {
          if (node === SKIPPED) return;
          if (args === undefined || ++calls > 1) {
            this.report(
              name,
              "member-of-value",
              `${quoted(name.image)} is read from a value that has no members`,
            );
            return;
          }
          const made = methodNode(node, { name: name.image, ...tokenSpan(name) }, args.nodes, args.end);
          this.found.push(...made.findings);
          node = made.node;
        });
      });
      this.MANY2(() => {
        const sign = this.CONSUME(token.Arithmetic);
        this.ACTION(() => {
          const hint =
            sign.image === "-" ? 'write a name with a hyphen in brackets: `user["x-y"]`' : undefined;
          this.report(
            sign,
            "arithmetic",
            `${quoted(sign.image)} is not an operator: arithmetic is not supported`,
            hint,
          );
        });
        this.SUBRULE2(this.primary);
      });
      return node;
    },
    OR_SKIPPED,
  );

  // primary = literal | list | "(" disjunction ")" | "exists" "(" attribute ")" | attribute
  readonly primary: GrammarRule = this.RULE(
    "primary",
    () =>
      this.OR([
        { ALT: () => this.SUBRULE(this.literal) },
        { ALT: () => this.SUBRULE(this.list) },
        { ALT: () => this.SUBRULE(this.parenthesized) },
        { ALT: () => this.SUBRULE(this.call) },
        { ALT: () => this.SUBRULE(this.attribute) },
      ]),
    OR_SKIPPED,
  );

  readonly parenthesized: GrammarRule = this.RULE(
    "parenthesized",
    () => {
      const open = this.CONSUME(token.LeftParenthesis);
      const node = this.SUBRULE(this.disjunction);
      this.MANY(() => {
        const comma = this.CONSUME(token.Comma);
        this.SUBRULE2(this.disjunction);
        this.ACTION(() => {
          this.report(
            comma,
            "parenthesized-list",
            "a list must be in brackets, not parentheses",
            "write `[.., ..]`",
          );
        });
      });
      const close = this.CONSUME(token.RightParenthesis);
      return this.ACTION((): ConditionNode => ({ ...node, ...between(tokenSpan(open), tokenSpan(close)) }));
    },
    OR_SKIPPED,
  );

  readonly call: GrammarRule = this.RULE(
    "call",
    () => {
      const name = this.CONSUME(token.Identifier);
      const args = this.SUBRULE(this.arguments);
      return this.ACTION(() => {
        const made = callNode({ name: name.image, ...tokenSpan(name) }, args.nodes, args.end);
        this.found.push(...made.findings);
        return made.node ?? SKIPPED;
      });
    },
    OR_SKIPPED,
  );

  readonly arguments: GrammarRule<Arguments> = this.RULE(
    "arguments",
    (): Arguments => {
      const nodes: ConditionNode[] = [];
      const open = this.CONSUME(token.LeftParenthesis);
      this.MANY_SEP({ SEP: token.Comma, DEF: () => nodes.push(this.SUBRULE(this.disjunction)) });
      const close = this.CONSUME(token.RightParenthesis);
      return this.ACTION(() => ({ nodes, ...between(tokenSpan(open), tokenSpan(close)) }));
    },
    { recoveryValueFunc: (): Arguments => ({ nodes: [SKIPPED], start: 0, end: 0 }) },
  );

  // attribute = identifier { "." name | "[" string "]" }
  readonly attribute: GrammarRule<AttributeNode | LiteralNode> = this.RULE(
    "attribute",
    (): AttributeNode | LiteralNode => {
      const root = this.CONSUME(token.Identifier);
      const path = [root.image];
      let last = root;
      this.MANY({
        GATE: () => !this.atMethod(),
        DEF: () => {
          this.OR([
            {
              ALT: () => {
                this.CONSUME(token.Dot);
                last = this.OR2([
                  { ALT: () => this.CONSUME(token.Name) },
                  { ALT: () => this.CONSUME(token.NumberLiteral) },
                ]);
                this.ACTION(() => {
                  if (last.tokenType === token.NumberLiteral) this.reportIndex(tokenSpan(last));
                  path.push(last.image);
                });
              },
            },
            {
              ALT: () => {
                this.CONSUME(token.LeftBracket);
                const key = this.SUBRULE(this.disjunction);
                last = this.CONSUME(token.RightBracket);
                this.ACTION(() => {
                  if (key.op === "literal" && typeof key.value === "string") path.push(key.value);
                  else if (key !== SKIPPED) this.reportIndex(key);
                });
              },
            },
          ]);
        },
      });
      return this.ACTION((): AttributeNode => {
        if (path.length > MAX_PATH) {
          this.report(root, "condition-too-deep", `a path may have at most ${MAX_PATH} names`);
        }
        return { op: "attribute", path, ...between(tokenSpan(root), tokenSpan(last)) };
      });
    },
    { recoveryValueFunc: (): LiteralNode => SKIPPED },
  );

  // list = "[" [ disjunction { "," disjunction } ] "]"
  readonly list: GrammarRule = this.RULE(
    "list",
    (): ConditionNode => {
      const items: ConditionNode[] = [];
      const open = this.CONSUME(token.LeftBracket);
      this.MANY_SEP({ SEP: token.Comma, DEF: () => items.push(this.SUBRULE(this.disjunction)) });
      const close = this.CONSUME(token.RightBracket);
      return this.ACTION((): ConditionNode => ({
        op: "list",
        items,
        ...between(tokenSpan(open), tokenSpan(close)),
      }));
    },
    OR_SKIPPED,
  );

  // literal = string | number | "true" | "false" | "null"
  readonly literal: GrammarRule<LiteralNode> = this.RULE(
    "literal",
    () => {
      const written = this.OR([
        { ALT: () => this.CONSUME(token.StringLiteral) },
        { ALT: () => this.CONSUME(token.NumberLiteral) },
        { ALT: () => this.CONSUME(token.True) },
        { ALT: () => this.CONSUME(token.False) },
        { ALT: () => this.CONSUME(token.Null) },
      ]);
      this.OPTION(() => {
        this.CONSUME(token.LeftParenthesis);
        this.CONSUME(token.RightParenthesis);
        this.ACTION(() => {
          this.report(
            written,
            "unknown-function",
            `${quoted(written.image)} is a value, not a function`,
            "remove the `()`",
          );
        });
      });
      return this.ACTION(() => literalNode(written));
    },
    { recoveryValueFunc: () => SKIPPED },
  );

  /** Recovery inserts only closing brackets, never a token that would make the parser descend further. */
  protected override canTokenTypeBeInsertedInRecovery(type: TokenType): boolean {
    return type === token.RightParenthesis || type === token.RightBracket;
  }

  private atMethod(): boolean {
    return this.LA(1).tokenType === token.Dot && this.LA(3).tokenType === token.LeftParenthesis;
  }

  protected report(at: IToken, code: ConditionFinding["code"], message: string, hint?: string): void {
    this.found.push(errorAt(tokenSpan(at), code, message, hint));
  }

  private reportIndex(span: TextSpan): void {
    const hint = "to search a list, write `.includes(value)`; member names of an object are strings";
    // what error recovery has put together may end before it starts
    const within = { start: span.start, end: Math.max(span.end, span.start + 1) };
    this.found.push(errorAt(within, "index-access", "a member's name must be a string", hint));
  }
}
