/** One customer as APIs show them: ten members, two of them personal, about 250 bytes. */
function customer(index: number): object {
  return {
    id: `c-${index}`,
    name: `Customer ${index} "GmbH" & Söhne`,
    email: `someone-${index}@example.com`,
    ssn: `123-45-${String(index % 10_000).padStart(4, "0")}`,
    owner: `u-${index % 7}`,
    active: index % 3 !== 0,
    balance: index * 12.25,
    tags: ["wholesale", "north"],
    address: { street: `${index} Main Street`, city: "Springfield", card: "4111 1111 1111 1111" },
    note: null,
  };
}

/** @returns a JSON document of about `bytes` bytes: `head` and a list of `customers` */
export function documentOf(bytes: number, head: object = {}): string {
  const start = JSON.stringify({ ...head, customers: [] }).slice(0, -2);
  const customers: string[] = [];
  let size = start.length + 2;
  for (let index = 0; ; index++) {
    const text = JSON.stringify(customer(index));
    size += Buffer.byteLength(text) + 1;
    if (size > bytes) break;
    customers.push(text);
  }
  return `${start}${customers.join(",")}]}`;
}
