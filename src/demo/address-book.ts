/** A contact at a customer: data that an application should not show to everybody, but does, because it has no access control. */
export interface Contact {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly ssn: string;
  readonly card_number: number;
  readonly salary_cents: number;
  readonly internal_notes: string;
  /** The user who is responsible for this contact. */
  readonly owner: string;
}

/** One or two per customer. The social security numbers are not real: none starts with a 9. */
export const CONTACTS: readonly Contact[] = [
  contact("k-1", "c-1", "Iris de Vries", "+31 10 555 0147", "u-2", {
    ssn: "900-41-6789",
    card_number: 5555_5555_5555_4444,
    salary_cents: 7_250_000,
    internal_notes: "Pays late in December.",
  }),
  contact("k-2", "c-1", "Tomas Blom", "+31 10 555 0162", "u-1", {
    ssn: "900-52-1120",
    card_number: 4111_1111_1111_1111,
    salary_cents: 5_480_000,
    internal_notes: "Wants to leave for a competitor.",
  }),
  contact("k-3", "c-2", "Agata Nowak", "+48 58 555 0119", "u-3", {
    ssn: "900-63-2231",
    card_number: 4012_8888_8888_1881,
    salary_cents: 4_930_000,
    internal_notes: "Call before ten.",
  }),
  contact("k-4", "c-2", "Piotr Lis", "+48 58 555 0188", "u-2", {
    ssn: "900-74-3342",
    card_number: 5105_1051_0510_5100,
    salary_cents: 6_110_000,
    internal_notes: "Moved here from Northwind.",
  }),
  contact("k-5", "c-3", "Lena Hofer", "+43 512 555 0134", "u-5", {
    ssn: "900-85-4453",
    card_number: 4222_2222_2222_2220,
    salary_cents: 5_820_000,
    internal_notes: "Prefers letters.",
  }),
  contact("k-6", "c-4", "Rui Matos", "+351 21 555 0171", "u-6", {
    ssn: "900-96-5564",
    card_number: 5425_2334_3010_9903,
    salary_cents: 3_640_000,
    internal_notes: "On trial until March.",
  }),
  contact("k-7", "c-5", "Haruka Mori", "+81 6 5555 0108", "u-6", {
    ssn: "900-17-6675",
    card_number: 4263_9826_4026_9299,
    salary_cents: 8_090_000,
    internal_notes: "Decides alone.",
  }),
  contact("k-8", "c-6", "Edith Marsh", "+44 1904 555 0123", "u-1", {
    ssn: "900-28-7786",
    card_number: 4917_4845_8989_7107,
    salary_cents: 2_970_000,
    internal_notes: "Ask for the invoice of August.",
  }),
];

function contact(
  id: string,
  customer: string,
  name: string,
  phone: string,
  owner: string,
  personal: Pick<Contact, "ssn" | "card_number" | "salary_cents" | "internal_notes">,
): Contact {
  const email = `${name.toLowerCase().replaceAll(" ", ".")}@customers.example`;
  return { id, customer_id: customer, name, email, phone, ...personal, owner };
}
