import type { ExplainGiven, RequestReading } from "../../core/explain-protocol.ts";
import { messages } from "../../messages/index.ts";
import { Badge, Copyable } from "../../ui/parts.tsx";
import { Condition, RuleLine } from "./condition.tsx";
import { Answer, MaskedFields, Messages } from "./after-permit.tsx";
import type { FoundRecord } from "./from-record.tsx";

const texts = messages.explain;
type Done = Extract<ExplainGiven, { kind: "explained" }>;

interface ResultProps {
  readonly given: ExplainGiven;
  readonly recorded: FoundRecord | undefined;
}

/** What became of the example, and why. */
export function Result({ given, recorded }: ResultProps) {
  switch (given.kind) {
    case "invalid_example":
      return (
        <p class="state problem" role="status">
          {texts.fields[given.field]}: {given.message}
        </p>
      );
    case "other_digest":
      return (
        <p class="state problem" role="alert">
          {texts.otherDigest}
        </p>
      );
    case "not_in_record":
      return (
        <div class="state" role="status">
          <h3>{texts.notInRecord}</h3>
          <p>{given.text}</p>
        </div>
      );
    case "invalid_set":
      return (
        <div class="state" role="alert">
          <h3>{texts.invalidSet}</h3>
          <ul>
            {given.diagnostics.map(({ file, line, message }, index) => (
              <li key={index}>
                <code>
                  {file}:{line}
                </code>{" "}
                {message}
              </li>
            ))}
          </ul>
        </div>
      );
    case "explained":
      return <Verdict done={given} recorded={recorded} />;
  }
}

function Verdict({ done, recorded }: { readonly done: Done; readonly recorded: FoundRecord | undefined }) {
  const { explanation, meaning, reading, set, text, same } = done;
  const { decision, reason, status, detail } = explanation;
  const allowed = decision === "ALLOW";
  return (
    <>
      <div class={allowed ? "verdict good" : "verdict bad"} role="status">
        <p>
          <strong>{allowed ? texts.allow : texts.deny}</strong> <code>{reason}</code>{" "}
          {!allowed && <span>{texts.status(status)}</span>} <span>{texts.by(set)}</span>
        </p>
        <p>
          {meaning}
          {detail !== undefined && ` (${detail})`}
        </p>
      </div>
      {same !== undefined && (
        <p class={same ? "card" : "card problem"}>
          {same ? texts.same : recorded?.with === "active" ? texts.differsActive : texts.differs}
        </p>
      )}
      <p class="quiet">{texts.usual}</p>
      <Rules done={done} />
      {reading && <Reading reading={reading} />}
      <details>
        <summary>{texts.asText}</summary>
        <Copyable text={text} label={texts.asText} />
      </details>
    </>
  );
}

function Rules({ done: { explanation } }: { readonly done: Done }) {
  const { near, fields } = explanation;
  const rule = "rule" in explanation ? explanation.rule : undefined;
  const connection = "connection" in explanation ? explanation.connection : undefined;
  const operation = "operation" in explanation ? explanation.operation : undefined;
  return (
    <>
      {explanation.reason === "NO_MATCHING_RULE" && <p>{texts.noRule}</p>}
      {rule && (
        <section class="card">
          <h3>{texts.rule}</h3>
          <RuleLine rule={rule} />
          <h4>{texts.condition}</h4>
          <Condition trace={rule.condition} />
        </section>
      )}
      {connection && (
        <section class="card">
          <h3>{texts.connection}</h3>
          <RuleLine rule={connection} />
          <h4>{texts.condition}</h4>
          <Condition trace={connection.condition} />
        </section>
      )}
      {operation && (
        <section class="card">
          <h3>{texts.operation}</h3>
          <p>
            <Badge of={operation.verdict} /> {operation.message}
          </p>
          {operation.denied.map(({ path, code, message }) => (
            <p key={path} class="problem">
              <code>{path}</code> <code>{code}</code> {message}
            </p>
          ))}
          {operation.rules.map((one, index) => (
            <div key={index}>
              <h4>
                <code>{one.path}</code>
              </h4>
              <RuleLine rule={one.rule} />
              {one.left === undefined ? (
                <Condition trace={one.condition} />
              ) : (
                <p>{texts.eachEvent(one.left)}</p>
              )}
            </div>
          ))}
        </section>
      )}
      {fields.length > 0 && <MaskedFields fields={fields} />}
      {"answer" in explanation && <Answer answer={explanation.answer} />}
      {"messages" in explanation && <Messages messages={explanation.messages} />}
      {near.length > 0 && (
        <section class="card">
          <h3>{texts.near}</h3>
          <ul>
            {near.map((other) => (
              <li key={other.id}>
                <RuleLine rule={other} />
                <p class="quiet">{failingText(other.failing)}</p>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

type Near = Extract<Done["explanation"], { readonly near: readonly unknown[] }>["near"][number];

function failingText(failing: NonNullable<Near>["failing"]): string {
  switch (failing.kind) {
    case "method":
      return texts.nearMethod(failing.expected, failing.actual);
    case "segment":
      return texts.nearSegment(failing.number, failing.expected, failing.actual);
    case "condition":
      return texts.nearCondition(failing.part.verdict, failing.part.text);
    case "less-specific":
      return texts.nearLess;
  }
}

function Reading({ reading }: { readonly reading: RequestReading }) {
  const { method, path, host, scheme, query, headers, accepted, others } = reading;
  const parts = texts.readingParts;
  return (
    <section class="card">
      <h3>{texts.reading}</h3>
      <dl class="facts">
        <dt>{parts.method}</dt>
        <dd>
          <code>{method}</code>
        </dd>
        <dt>{parts.path}</dt>
        <dd>
          <code>{path}</code>
        </dd>
        <dt>{parts.host}</dt>
        <dd>
          <code>{host}</code>
        </dd>
        <dt>{parts.scheme}</dt>
        <dd>
          <code>{scheme}</code>
        </dd>
        <Named title={parts.query} entries={query} />
        <Named title={parts.headers} entries={headers} />
        {accepted.length > 0 && (
          <>
            <dt>{parts.accepted}</dt>
            <dd>{accepted.join(", ")}</dd>
          </>
        )}
        {others.length > 0 && (
          <>
            <dt>{parts.others}</dt>
            <dd>
              {others.map((other) => (
                <div key={`${other.method} ${other.path}`}>
                  <code>
                    {other.method} {other.path}
                  </code>
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Named({ title, entries }: { readonly title: string; readonly entries: RequestReading["query"] }) {
  if (entries.length === 0) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {entries.map(([name, values]) => (
          <div key={name}>
            <code>
              {name}: {JSON.stringify(values)}
            </code>
          </div>
        ))}
      </dd>
    </>
  );
}
