import type { Example, ExampleField } from "../../core/explain-protocol.ts";
import { messages } from "../../messages/index.ts";
import { useId } from "preact/hooks";

const texts = messages.explain;

interface ExampleFormProps {
  readonly example: Example;
  readonly invalid: { readonly field: ExampleField; readonly message: string } | undefined;
  readonly onChange: (field: ExampleField, value: string) => void;
}

const MORE: readonly ExampleField[] = ["body", "attributes", "time", "environment", "client_ip", "by_cookie"];
const ANSWER: readonly ExampleField[] = ["response", "response_status", "response_headers", "messages"];

/** The request, its caller, and what the application answers. */
export function ExampleForm(props: ExampleFormProps) {
  const { example, invalid } = props;
  const opened = (fields: readonly ExampleField[], usual: Partial<Example>) =>
    fields.some((field) => example[field] !== (usual[field] ?? "") || invalid?.field === field);
  return (
    <>
      <Text {...props} field="line" />
      <Area {...props} field="headers" rows={3} />
      <Area {...props} field="user" rows={4} />
      <Area {...props} field="customer" rows={2} />
      <details open={opened(MORE, { client_ip: "127.0.0.1" })}>
        <summary>{texts.more}</summary>
        <Area {...props} field="body" rows={4} />
        <Area {...props} field="attributes" rows={3} />
        <div class="filters">
          <Text {...props} field="time" />
          <Text {...props} field="environment" />
          <Text {...props} field="client_ip" />
        </div>
        <Check {...props} field="by_cookie" />
      </details>
      <details open={opened(ANSWER, { response_status: "200" })}>
        <summary>{texts.answerPart}</summary>
        <Area {...props} field="response" rows={4} />
        <div class="filters">
          <Text {...props} field="response_status" />
        </div>
        <Area {...props} field="response_headers" rows={2} />
        <Area {...props} field="messages" rows={3} />
      </details>
    </>
  );
}

interface FieldProps extends ExampleFormProps {
  readonly field: ExampleField;
}

function useField({ field, invalid }: FieldProps) {
  const id = useId();
  const problem = invalid?.field === field ? invalid.message : undefined;
  const hint = texts.hints[field];
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(
    Boolean,
  );
  return {
    given: {
      id,
      name: field,
      "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
      "aria-invalid": problem !== undefined,
    },
    label: <label for={id}>{texts.fields[field]}</label>,
    below: (
      <>
        {hint !== undefined && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
        {problem !== undefined && (
          <p class="problem" id={`${id}-problem`} role="alert">
            {problem}
          </p>
        )}
      </>
    ),
  };
}

function Text(props: FieldProps) {
  const { field, example, onChange } = props;
  const { given, label, below } = useField(props);
  return (
    <div class="field">
      {label}
      <input
        {...given}
        class="code"
        value={example[field]}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          onChange(field, currentTarget.value);
        }}
      />
      {below}
    </div>
  );
}

function Area(props: FieldProps & { readonly rows: number }) {
  const { field, example, onChange, rows } = props;
  const { given, label, below } = useField(props);
  return (
    <div class="field">
      {label}
      <textarea
        {...given}
        class="code"
        rows={rows}
        value={example[field]}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          onChange(field, currentTarget.value);
        }}
      />
      {below}
    </div>
  );
}

function Check(props: FieldProps) {
  const { field, example, onChange } = props;
  const { given, below } = useField(props);
  return (
    <div class="field">
      <label class="row" for={given.id}>
        <input
          {...given}
          type="checkbox"
          class="check"
          checked={example[field] !== ""}
          onChange={({ currentTarget }) => {
            onChange(field, currentTarget.checked ? "true" : "");
          }}
        />
        <span>{texts.fields[field]}</span>
      </label>
      {below}
    </div>
  );
}
