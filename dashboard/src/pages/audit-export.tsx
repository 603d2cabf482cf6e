import { useRef, useState } from "preact/hooks";
import type { Query } from "../api/types.ts";
import { messages } from "../messages/index.ts";
import { announce } from "../ui/parts.tsx";

const texts = messages.audit;
const NEWLINE = 10;
const number = (value: number) => value.toLocaleString("en");

/** All records of the search as lines of JSON, in a file. It shows how far it is, and can be cancelled. */
export function Export({ query }: { readonly query: Query<"/audit/logs"> }) {
  const [read, setRead] = useState<number>();
  const [failed, setFailed] = useState(false);
  const running = useRef<AbortController>();
  const start = async () => {
    const controller = new AbortController();
    running.current = controller;
    setFailed(false);
    setRead(0);
    try {
      const { parts, records } = await readLines(query, controller.signal, setRead);
      save(new Blob(parts, { type: "application/x-ndjson" }));
      announce(texts.exported(number(records)));
    } catch {
      if (controller.signal.aborted) announce(texts.exportStopped);
      else setFailed(true);
    } finally {
      setRead(undefined);
    }
  };
  return (
    <>
      {failed && (
        <span class="problem" role="alert">
          {texts.exportFailed}
        </span>
      )}
      {read === undefined ? (
        <button type="button" onClick={() => void start()}>
          {texts.export}
        </button>
      ) : (
        <>
          <span role="status">{texts.exporting(number(read))}</span>
          <button
            type="button"
            onClick={() => {
              running.current?.abort();
            }}
          >
            {messages.cancel}
          </button>
        </>
      )}
    </>
  );
}

/** @throws if the answer is no success, or ends before it is complete */
async function readLines(
  query: Query<"/audit/logs">,
  signal: AbortSignal,
  onRead: (records: number) => void,
): Promise<{ readonly parts: BlobPart[]; readonly records: number }> {
  const search = new URLSearchParams({ ...(query as Record<string, string>), format: "ndjson" });
  const answer = await fetch(`/v1/audit/logs?${search.toString()}`, {
    credentials: "same-origin",
    headers: { accept: "application/x-ndjson" },
    signal,
  });
  if (!answer.ok || answer.body === null) throw new Error(String(answer.status));
  const parts: BlobPart[] = [];
  let records = 0;
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { parts, records };
    parts.push(value);
    for (const byte of value) if (byte === NEWLINE) records += 1;
    onRead(records);
  }
}

function save(file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = `audit-${new Date().toISOString().slice(0, 10)}.ndjson`;
  link.click();
  URL.revokeObjectURL(url);
}
