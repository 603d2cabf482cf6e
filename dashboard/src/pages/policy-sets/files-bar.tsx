import { useState } from "preact/hooks";
import type { PolicyFile } from "../../core/protocol.ts";
import { editor as texts } from "../../messages/editor.ts";
import { messages } from "../../messages/index.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog, Field } from "../../ui/parts.tsx";

/** As the API takes them, and suites. */
const FILE = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:ya?ml|graphqls?|gql|json)$/;

interface FilesBarProps {
  readonly files: readonly PolicyFile[];
  readonly selected: string | undefined;
  readonly select: (name: string) => void;
  readonly write: (name: string, text: string) => void;
  readonly remove: (name: string) => void;
}

/** The files of a draft: one is open. */
export function FilesBar({ files, selected, select, write, remove }: FilesBarProps) {
  const [dialog, setDialog] = useState<"add" | "remove">();
  const close = () => {
    setDialog(undefined);
  };
  const read = async (chosen: FileList | null) => {
    // the list is the input's own, and is empty once that is
    for (const file of [...(chosen ?? [])]) {
      if (!FILE.test(file.name)) continue;
      write(file.name, await file.text());
      select(file.name);
    }
  };
  return (
    <div class="bar">
      <nav aria-label={texts.files}>
        <ul class="files">
          {files.map(({ name }) => (
            <li key={name}>
              <button
                type="button"
                class={name === selected ? "main" : undefined}
                aria-pressed={name === selected}
                onClick={() => {
                  select(name);
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div class="row">
        <button
          type="button"
          onClick={() => {
            setDialog("add");
          }}
        >
          {texts.addFile}
        </button>
        <label class="button chooser">
          {texts.openFiles}
          <input
            type="file"
            multiple
            accept=".yaml,.yml,.graphql,.gql,.json"
            onChange={({ currentTarget }) => {
              void read(currentTarget.files);
              currentTarget.value = "";
            }}
          />
        </label>
        {selected !== undefined && files.length > 1 && (
          <button
            type="button"
            onClick={() => {
              setDialog("remove");
            }}
          >
            {texts.removeFile(selected)}
          </button>
        )}
      </div>
      {dialog === "add" && (
        <AddFile
          taken={files.map(({ name }) => name)}
          onClose={close}
          add={(name) => {
            write(name, "");
            select(name);
          }}
        />
      )}
      {dialog === "remove" && selected !== undefined && (
        <Confirm
          title={texts.removeFile(selected)}
          text={texts.removeFileText}
          action={messages.remove}
          danger
          onConfirm={() => {
            remove(selected);
            return Promise.resolve();
          }}
          onClose={close}
        />
      )}
    </div>
  );
}

interface AddFileProps {
  readonly taken: readonly string[];
  readonly add: (name: string) => void;
  readonly onClose: () => void;
}

function AddFile({ taken, add, onClose }: AddFileProps) {
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState<string>();
  return (
    <Dialog title={texts.addFile} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!FILE.test(name)) setWrong(texts.fileNameWrong);
          else if (taken.includes(name)) setWrong(texts.fileNameUsed);
          else {
            add(name);
            onClose();
          }
        }}
      >
        <Field name="name" label={texts.fileName} hint={texts.fileNameHint}>
          {(given) => (
            <input
              {...given}
              autocomplete="off"
              aria-invalid={wrong !== undefined}
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value.trim());
              }}
            />
          )}
        </Field>
        {wrong !== undefined && (
          <p class="problem" role="alert">
            {wrong}
          </p>
        )}
        <div class="row">
          <button type="submit" class="main">
            {texts.addFile}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
