import { newId } from "../../../src/control/platform/ids.ts";
import { MAX_ASSIGNED } from "../../../src/control/resources/policies/assignments.ts";
import { eventually } from "../../support/eventually.ts";
import { asking } from "./contents.ts";
import type { HostileTexts } from "./hostile.ts";
import { SET, type Journey } from "./journey.ts";

/** Something on the pages that only a sandbox fills, through the API, whose every text is markup. */
export async function fillSandbox(journey: Journey, texts: HostileTexts): Promise<void> {
  const { api, belongings } = journey;
  const ask = asking(api);
  const { id: customer = "" } = await ask("POST", "/customers", { name: texts.text("customer name") });
  belongings.customer = customer;
  await ask("POST", "/sandbox/people", {
    ...{ customer_id: customer, email: "ada@acme.example", name: texts.text("person") },
    ...{ role: texts.text("role"), department: texts.text("department") },
  });
  await journey.bench().session(customer, "somebody");
  await fillJobs(journey, texts);
  for (const [version, condition] of [
    ["v0", "true"],
    ["v1", 'request.headers["x-tier"] == "gold" or request.headers["x-tier"] == "silver"'],
    ["v2", 'request.headers["x-tier"] == "gold"'],
  ] as const)
    await ask("POST", "/policy-sets", {
      name: SET,
      files: [{ name: "main.yaml", text: setOf(version, condition, texts) }],
      activate: version !== "v2",
    });
  await ask("POST", `/policy-sets/${SET}/rollout`, { version: "v2", mode: "enforce", percentage: 20 });
  await ask("POST", `/policy-sets/${SET}/rollout/abort`, { detail: texts.text("reason of an operator") });
  await ask("POST", `/policy-sets/${SET}/rollout`, { version: "v2" });
}

/** A preview, and an assignment that fails for a customer who has as many policies as one may have. */
async function fillJobs({ api, bench, customer }: Journey, texts: HostileTexts): Promise<void> {
  const ask = asking(api);
  const { id: full = "" } = await ask("POST", "/customers", { name: texts.text("customer of a failure") });
  const { db } = bench().control.context;
  const at = new Date();
  const others = Array.from({ length: MAX_ASSIGNED }, () => newId("policy"));
  await db("policies").insert(
    others.map((id) => ({
      ...{ id, name: id, name_key: id, description: "", type: "authentication", status: "inactive" },
      ...{ conditions: "{}", created_at: at, updated_at: at, revision: 1 },
    })),
  );
  await db("policy_assignments").insert(
    others.map((id) => ({ customer_id: full, policy_id: id, assigned_at: at })),
  );
  const { id: policy = "" } = await ask("POST", "/policies", {
    ...{ name: texts.text("policy name"), description: texts.text("policy description") },
    ...{ type: "authentication", conditions: { mfa_required: true } },
  });
  for (const body of [
    { action: "preview", customers: { all: true } },
    { action: "assign", customers: { ids: [customer(), full] } },
  ]) {
    const { id } = await ask("POST", `/policies/${policy}/assignments`, body);
    await eventually(
      "the job",
      async () => (await ask("GET", `/bulk-assignments/${id ?? ""}`))["status"] === "finished",
    );
  }
  await db("policy_assignments").where({ customer_id: full }).delete();
  await db("policies").whereIn("id", others).delete();
}

function setOf(version: string, condition: string, texts: HostileTexts): string {
  return `# ${texts.text(`comment of ${version}`)}
policy_set: ${SET}
version: ${version}
policies:
  - resource: "GET /open"
    name: ${JSON.stringify(texts.text(`rule of ${version}`))}
    condition: '${condition}'
`;
}
