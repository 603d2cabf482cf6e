import { Command, InvalidArgumentError } from "commander";
import { decideOffline } from "../decision/offline.ts";
import { explainDecision, renderExplanation } from "../decision/explain.ts";
import { createSnapshot } from "../decision/snapshot.ts";
import { renderDiagnostics, type ValueObject } from "../policy/index.ts";
import { REASONS } from "../reasons.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compileSet, directoryOption } from "./policy-sets.ts";
import { rawRequest } from "./raw-request.ts";

interface ExplainOptions {
  readonly directory: string;
  readonly policySet: string;
  readonly request: string;
  readonly header: readonly string[];
  readonly body?: string;
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  readonly attributes?: ValueObject;
  readonly time?: string;
  readonly json?: true;
}

/** `gatehouse policy explain`: how a request would be answered, and why. */
export function policyExplainCommand(): Command {
  return new Command("explain")
    .description("say how a request would be answered, and why; exit code 0 whatever the answer")
    .requiredOption("-r, --request <line>", 'method and path, e.g. "GET /api/customers/c-1?page=2"')
    .option("-H, --header <line>", "a header, e.g. 'x-tier: gold'; may be repeated", collect, [])
    .option("--body <json>", "the request's JSON body")
    .option("-u, --user <json>", "attributes of the caller; without it nobody is signed in", jsonObject)
    .option("--customer <json>", "attributes of the caller's customer", jsonObject)
    .option(
      "--attributes <json>",
      'looked-up attributes by root, e.g. {"target_user":{"department":"sales"}}',
      jsonObject,
    )
    .option("--time <iso>", "env.time (default: now)")
    .option("-s, --policy-set <name>", "the policy set", "default")
    .addOption(directoryOption())
    .option("--json", "the explanation as JSON")
    .action(async (options: ExplainOptions) => {
      const { ir, diagnostics, files } = await compileSet(options.directory, options.policySet);
      if (ir === undefined) throw new ExitError(renderDiagnostics([...diagnostics], [...files]).trimEnd());
      const decision = await decideOffline(createSnapshot(ir, { caseSensitive: false }), {
        raw: rawRequest(options.request, options.header, options.body),
        ...(options.user && { user: options.user }),
        ...(options.customer && { customer: options.customer }),
        lookup: (root) => lookup(options.attributes, root),
        now: timeOf(options.time),
      });
      const explanation = explainDecision(decision);
      if (options.json) {
        const { verdict, reason, detail } = decision;
        const answer = { decision: verdict, reason, status: REASONS[reason].status, detail, ...explanation };
        process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
      } else process.stdout.write(renderExplanation(decision, explanation));
    });
}

function lookup(attributes: ValueObject | undefined, root: string): ValueObject | undefined {
  if (attributes === undefined || !Object.hasOwn(attributes, root)) throw new Error(`${root} is not given`);
  const found = attributes[root];
  return isObject(found) ? found : undefined;
}

function timeOf(text: string | undefined): number {
  const time = text === undefined ? Date.now() : Date.parse(text);
  if (Number.isNaN(time))
    throw new ExitError(`\`${text ?? ""}\` is not a time such as 2026-01-31T12:00:00Z`, EXIT_USAGE);
  return time;
}

function jsonObject(text: string): ValueObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // said below, together with JSON that is no object
  }
  throw new InvalidArgumentError("is not a JSON object");
}

function isObject(value: unknown): value is ValueObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function collect(line: string, before: readonly string[]): readonly string[] {
  return [...before, line];
}
