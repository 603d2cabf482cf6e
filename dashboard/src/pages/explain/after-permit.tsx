import type { PlainExplanation } from "../../core/explain-protocol.ts";
import { messages } from "../../messages/index.ts";
import { Badge, Copyable } from "../../ui/parts.tsx";
import { Condition, RuleLine } from "./condition.tsx";

const texts = messages.explain;

type Decided = Extract<PlainExplanation, { readonly answer?: unknown }>;
type FieldExplanation = Decided["fields"][number];

/** The fields of the response that rules mask, or would. */
export function MaskedFields({ fields }: { readonly fields: readonly FieldExplanation[] }) {
  return (
    <section class="card">
      <h3>{texts.fieldsPart}</h3>
      <ul class="plain">
        {fields.map((field, index) => (
          <li key={index}>
            <p>
              <code>{field.field}</code>: {field.verdict === "false" ? texts.notMasked : field.action}
            </p>
            <RuleLine rule={field.rule} />
            {field.left !== undefined && <p class="quiet">{texts.unlessFalse(field.left)}</p>}
            {field.condition !== undefined && <Condition trace={field.condition} />}
            {field.masked !== undefined && field.masked.length > 0 && (
              <p>{texts.here(field.masked.join(", "))}</p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What becomes of the sample response. */
export function Answer({ answer }: { readonly answer: NonNullable<Decided["answer"]> }) {
  return (
    <section class="card">
      <h3>{texts.answer}</h3>
      {answer.ok ? (
        <>
          <p>{answer.paths.length === 0 ? texts.unchanged : texts.changed}</p>
          {answer.paths.length > 0 && <p class="quiet">{texts.here(answer.paths.join(", "))}</p>}
          <Copyable text={answer.text} label={texts.delivered} />
        </>
      ) : (
        <p class="problem">{texts.withheld(answer.status, answer.reason)}</p>
      )}
    </section>
  );
}

/** What becomes of each message. */
export function Messages({ messages: all }: { readonly messages: NonNullable<Decided["messages"]> }) {
  return (
    <>
      {all.map((message, index) => (
        <section key={index} class="card">
          <h3>
            {texts.message[message.direction]}{" "}
            <Badge of={message.delivered === undefined ? "DENY" : "delivered"} />
          </h3>
          <p>
            {message.delivered === undefined
              ? texts.messageDropped(message.code)
              : texts.messageDelivered(message.code)}
          </p>
          {message.rule && <RuleLine rule={message.rule} />}
          {message.condition && <Condition trace={message.condition} />}
          {message.fields.length > 0 && <MaskedFields fields={message.fields} />}
          {message.delivered !== undefined && <Copyable text={message.delivered} label={texts.delivered} />}
        </section>
      ))}
    </>
  );
}
