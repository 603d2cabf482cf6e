import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { messages } from "../messages/index.ts";

interface ReloadStateProps {
  readonly title: string;
  readonly text: string;
}

/** Says why a page cannot be shown, where only a reload helps. */
export function ReloadState({ title, text }: ReloadStateProps) {
  return (
    <div class="state" role="alert">
      <h1>{title}</h1>
      <p>{text}</p>
      <button
        type="button"
        class="main"
        onClick={() => {
          location.reload();
        }}
      >
        {messages.failures.reload}
      </button>
    </div>
  );
}

/** Shows what is wrong in place of a page with a defect; the navigation stays, and leads to other pages. */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [path] = useLocation();
  const search = useSearch();
  // the console, and whatever watches the page, learn of it as of any other error
  const [error, reset] = useErrorBoundary((error) => {
    reportError(error);
  }) as [unknown, () => void];
  useEffect(() => {
    if (error !== undefined) reset();
  }, [path, search]);
  if (error === undefined) return <>{children}</>;
  return <ReloadState title={messages.failures.broken} text={messages.failures.brokenText} />;
}
