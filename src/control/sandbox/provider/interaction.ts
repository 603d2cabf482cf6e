import type { Request, Response } from "express";
import type Provider from "oidc-provider";
import type { ControlContext } from "../../platform/context.ts";
import { findIdp } from "../../tenancy/idp.ts";
import { findCustomer, type CustomerRow } from "../../tenancy/customers.ts";
import { isStorable } from "../../platform/frame/json-text.ts";
import { countingOf, evidenceOf, sandboxAcrValues } from "../evidence.ts";
import { findPersonByEmail, peopleOf, type PersonRow } from "../people.ts";
import { contentSecurityPolicy, pickPage, problemPage } from "./pages.ts";

/** Most people on a page; others are searched for. */
const SHOWN = 100;

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** What a browser does at the provider: somebody is picked, or nobody. */
export interface Interactions {
  show(request: Request, response: Response): Promise<void>;
  submit(request: Request, response: Response): Promise<void>;
}

export function createInteractions({ db }: Pick<ControlContext, "db">, provider: Provider): Interactions {
  /** The one that the cookie names, which must be the one of the path: a cookie alone proves no intention. */
  async function current(request: Request, response: Response): Promise<Interaction | undefined> {
    try {
      const interaction = await provider.interactionDetails(request, response);
      return interaction.uid === request.params["uid"] ? interaction : undefined;
    } catch (error) {
      if (error instanceof Error && error.name === "SessionNotFound") return undefined;
      throw error;
    }
  }

  async function finish(
    request: Request,
    response: Response,
    interaction: Interaction,
    person: PersonRow,
    secondFactor: boolean,
  ): Promise<void> {
    const counting = sandboxAcrValues(await findIdp(db, clientOf(interaction)));
    const evidence = evidenceOf(person, acrValuesOf(interaction), counting, secondFactor);
    const to = await provider.interactionResult(
      request,
      response,
      {
        login: { accountId: person.id, ...evidence, remember: false },
        // each of them is answered by the choice that was made
        select_account: {},
        consent: {},
      },
      { mergeWithLastSubmission: false },
    );
    await leave(interaction, person);
    response.status(303).setHeader("location", to).end();
  }

  /** Somebody else was signed in: the library would end that by a form that a script sends. */
  async function leave({ session: known }: Interaction, person: PersonRow): Promise<void> {
    if (known?.uid === undefined || known.accountId === person.id) return;
    const session = await provider.Session.findByUid(known.uid);
    if (session === undefined) return;
    delete session.accountId;
    delete session.authorizations;
    await session.persist();
  }

  async function sendPage(
    request: Request,
    response: Response,
    customer: CustomerRow,
    interaction: Interaction,
    { status = 200, problem }: { readonly status?: number; readonly problem?: string } = {},
  ): Promise<void> {
    const asked = new URL(request.originalUrl, "http://x").searchParams.get("q") ?? "";
    const search = isStorable(asked) ? asked.slice(0, 100) : "";
    const people = search === "" ? peopleOf(db, customer.id) : like(peopleOf(db, customer.id), search);
    const total = await people.clone().count({ total: "*" }).first<{ total: number | string }>();
    const shown = await people.orderBy(["name", "id"]).limit(SHOWN).select<PersonRow[]>("*");
    const counting = sandboxAcrValues(await findIdp(db, customer.id));
    const html = pickPage({
      customer: customer.name,
      people: shown,
      more: Number(total.total) - shown.length,
      search,
      asksSecondFactor: countingOf(acrValuesOf(interaction), counting).length > 0,
      action: `${new URL(provider.issuer).pathname}${request.path}`,
      ...(problem !== undefined && { problem }),
    });
    send(response, status, html, contentSecurityPolicy(customer.allowed_return_urls));
  }

  return {
    async show(request, response) {
      const interaction = await current(request, response);
      const customer = interaction && (await findCustomer(db, clientOf(interaction)));
      if (interaction === undefined || customer === undefined) {
        refuse(response);
        return;
      }
      const { prompt, params } = interaction;
      const hint = params["login_hint"];
      const hinted = typeof hint === "string" ? await findPersonByEmail(db, customer.id, hint) : undefined;
      // always ask if the request wants the account to be chosen
      if (hinted !== undefined && prompt.name !== "select_account") {
        // nobody is asked: they prove themselves as they usually do
        await finish(request, response, interaction, hinted, false);
        return;
      }
      const problem =
        typeof hint === "string" && hinted === undefined
          ? `nobody at ${customer.name} has the e-mail address ${hint}`
          : undefined;
      await sendPage(request, response, customer, interaction, problem === undefined ? {} : { problem });
    },
    async submit(request, response) {
      const interaction = await current(request, response);
      const customer = interaction && (await findCustomer(db, clientOf(interaction)));
      if (interaction === undefined || customer === undefined) {
        refuse(response);
        return;
      }
      const {
        login,
        cancel,
        second_factor: secondFactor,
      } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
      if (cancel !== undefined) {
        const result = { error: "access_denied", error_description: "the sign-in was cancelled" };
        await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
        return;
      }
      const known = typeof login === "string" && isStorable(login);
      const person = known ? await findPersonByEmail(db, customer.id, login) : undefined;
      if (person !== undefined)
        await finish(request, response, interaction, person, secondFactor !== undefined);
      else
        await sendPage(request, response, customer, interaction, {
          status: 400,
          problem: `choose a person at ${customer.name}`,
        });
    },
  };
}

function acrValuesOf({ params }: Interaction): string | undefined {
  const { acr_values: asked } = params;
  return typeof asked === "string" ? asked : undefined;
}

function clientOf({ params }: Interaction): string {
  return String(params["client_id"]);
}

function like(query: ReturnType<typeof peopleOf>, search: string): ReturnType<typeof peopleOf> {
  const pattern = `%${search.replace(/[\\%_]/g, "\\$&")}%`;
  return query.where((either) => void either.whereILike("name", pattern).orWhereILike("email", pattern));
}

function refuse(response: Response): void {
  send(response, 400, problemPage("this sign-in has ended or was not started in this browser"));
}

function send(response: Response, status: number, html: string, policy = contentSecurityPolicy()): void {
  response
    .status(status)
    .set("content-security-policy", policy)
    .set("cache-control", "no-store")
    .type("html")
    .send(html);
}
