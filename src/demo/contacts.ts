import { Router, type Response } from "express";
import { z } from "zod";
import { customerOf } from "./customers.ts";
import { parseAs, RequestError } from "./http.ts";
import type { DemoStore } from "./store.ts";

/** Number of calls to report before the stream ends; without it the stream is endless. */
const CallsQuery = z.object({ events: z.coerce.number().int().min(1).max(1000).optional() });

/**
 * `/api/customers/:id/contacts`: personal data in every form of response: one JSON document, one line per contact, a stream of
 * events, and an error that reveals too much.
 *
 * @param interval - ms between two events
 */
export function contactRoutes(store: DemoStore, interval: number): Router {
  const router = Router();
  const contactsOf = (id: string) => {
    const customer = customerOf(store, id);
    return store.contacts.filter((contact) => contact.customer_id === customer.id);
  };

  router.get("/api/customers/:id/contacts", (request, response) => {
    const contacts = contactsOf(request.params.id);
    response.json({ contacts, total: contacts.length });
  });

  router.get("/api/customers/:id/contacts/export", (request, response) => {
    const lines = contactsOf(request.params.id).map((contact) => `${JSON.stringify(contact)}\n`);
    response.type("application/x-ndjson").send(lines.join(""));
  });

  router.get("/api/customers/:id/contacts/calls", (request, response) => {
    const contacts = contactsOf(request.params.id);
    const { events = Number.POSITIVE_INFINITY } = parseAs(CallsQuery, request.query, "query");
    sendEvents(response, { events, interval }, (index) => {
      const contact = contacts[index % contacts.length];
      return { call: index + 1, contact };
    });
  });

  router.get("/api/customers/:id/contacts/:contact", (request, response) => {
    const { id } = customerOf(store, request.params.id);
    const contact = store.contacts.find((entry) => entry.id === request.params.contact);
    if (contact === undefined) throw new RequestError(404, "no such contact");
    if (contact.customer_id === id) response.json(contact);
    // as real applications do: a helpful error that contains another customer's data
    else response.status(410).json({ error: "the contact has moved to another customer", contact });
  });

  return router;
}

/** Server-Sent Events (HTML standard, section 9.2): the first one at once, the others at intervals. */
function sendEvents(
  response: Response,
  { events, interval }: { readonly events: number; readonly interval: number },
  eventAt: (index: number) => object,
): void {
  response.set("cache-control", "no-store").type("text/event-stream");
  let index = 0;
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    response.write(`event: call\nid: ${index}\ndata: ${JSON.stringify(eventAt(index))}\n\n`);
    index += 1;
    if (index < events) timer = setTimeout(send, interval);
    else response.end();
  };
  response.on("close", () => {
    clearTimeout(timer);
  });
  send();
}
