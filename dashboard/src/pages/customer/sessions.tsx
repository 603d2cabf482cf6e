import { messages } from "../../messages/index.ts";
import { useUrlState } from "../../ui/url-state.ts";
import { SessionTable } from "../sessions.tsx";

/** The sessions of a customer's users. */
export function Sessions({ id }: { readonly id: string }) {
  return (
    <SessionTable
      caption={messages.customers.tabs.sessions}
      url={useUrlState()}
      filter={{ customer_id: id }}
      empty={messages.sessions.none}
    />
  );
}
