import { useState } from "preact/hooks";
import type { Example } from "../../core/explain-protocol.ts";
import { callerOfToken } from "../../explain/claims.ts";
import { readPasted } from "../../explain/paste.ts";
import { messages } from "../../messages/index.ts";
import { Field } from "../../ui/parts.tsx";

const texts = messages.explain;

interface PasteProps {
  readonly onRead: (fields: Partial<Example>) => void;
}

/** Fills the fields from a request, a curl command or a token. */
export function PasteRequest({ onRead }: PasteProps) {
  const [request, setRequest] = useState("");
  const [token, setToken] = useState("");
  const [said, setSaid] = useState<{ readonly about: "request" | "token"; readonly text: string }>();
  const readRequest = () => {
    const pasted = readPasted(request);
    setSaid(
      pasted === undefined
        ? { about: "request", text: texts.notRead }
        : pasted.ignored.length > 0
          ? { about: "request", text: texts.ignored(pasted.ignored.join(" ")) }
          : undefined,
    );
    if (pasted === undefined) return;
    const bearer = /^authorization:\s*bearer\s+(\S+)\s*$/im.exec(pasted.example.headers)?.[1];
    onRead({ ...pasted.example, ...(bearer === undefined ? {} : callerOfToken(bearer)) });
  };
  const readToken = () => {
    const caller = callerOfToken(token);
    setSaid(caller === undefined ? { about: "token", text: texts.badToken } : undefined);
    if (caller === undefined) return;
    // it is worth as much as a password, and is not needed any more
    setToken("");
    onRead(caller);
  };
  const problem = (about: "request" | "token") =>
    said?.about === about && (
      <p class="problem" role="alert">
        {said.text}
      </p>
    );
  return (
    <details class="card" open>
      <summary>{texts.paste}</summary>
      <Field name="pasted" label={texts.paste} hint={texts.pasteHint}>
        {(given) => (
          <textarea
            {...given}
            class="code"
            rows={3}
            value={request}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => {
              setRequest(currentTarget.value);
            }}
          />
        )}
      </Field>
      {problem("request")}
      <button type="button" disabled={request.trim() === ""} onClick={readRequest}>
        {texts.read}
      </button>
      <Field name="token" label={texts.token} hint={texts.tokenHint}>
        {(given) => (
          <input
            {...given}
            class="code"
            value={token}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => {
              setToken(currentTarget.value);
            }}
          />
        )}
      </Field>
      {problem("token")}
      <button type="button" disabled={token.trim() === ""} onClick={readToken}>
        {texts.useToken}
      </button>
    </details>
  );
}
