import type { ApiFailure } from "../api/client.ts";
import { Page } from "../shell.tsx";
import { Failure, Loading } from "./parts.tsx";

interface PendingPageProps {
  readonly title: string;
  /** Why what the page shows could not be read; undefined while it is being read. */
  readonly failure: ApiFailure | undefined;
  readonly retry: () => void;
}

/** A page whose content is not there yet, or could not be read. */
export function PendingPage({ title, failure, retry }: PendingPageProps) {
  return <Page title={title}>{failure ? <Failure failure={failure} retry={retry} /> : <Loading />}</Page>;
}
