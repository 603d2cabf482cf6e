import { Agent, get } from "node:http";
import { effort } from "./effort.ts";
import { startGuarded } from "./guarded.ts";
import { median, percentile } from "./statistics.ts";

/** One row of the table: the latency of one size of answer, over one connection at a time. */
interface Row {
  readonly document: string;
  readonly setup: string;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p50_to_no_rule: number;
}

/** Asks a set-up, and says how much of the document must come back masked. */
interface Setup {
  readonly name: string;
  readonly url: string;
  readonly masked: "nothing" | "everywhere" | "of others";
}

const SIZES = [
  { document: "1 KB", bytes: 1_000, requests: effort(2000) },
  { document: "100 KB", bytes: 100_000, requests: effort(800) },
  { document: "1 MB", bytes: 1_000_000, requests: effort(200) },
];

const POLICIES = `
policies:
  - { resource: "GET /open/{size}", condition: exists(user.id) }
  - { resource: "GET /masked/{size}", condition: exists(user.id) }
  - { resource: "GET /owned/{size}", condition: exists(user.id) }
response_masks:
  - api_pattern: /masked/*
    fields:
      - { name: ssn, condition: user.role != "admin", mask_type: partial }
      - { name: address.card, condition: user.role != "admin", mask_type: full }
      - { name: note, condition: user.role != "admin", mask_type: remove }
  - api_pattern: /owned/*
    fields:
      - { name: ssn, condition: item.owner != user.id, mask_type: partial }
      - { name: address.card, condition: response.status != 201, mask_type: full }
      - { name: note, condition: item.owner != user.id, mask_type: remove }
`;

/**
 * What response rules add to an answer, as a client sees it. Requests go to all set-ups in turns, so that whatever else
 * the machine does meets all of them.
 */
export async function benchmarkResponses(): Promise<Row[]> {
  const guarded = await startGuarded(POLICIES);
  const setups: readonly Setup[] = [
    { name: "Envoy alone", url: `${guarded.plain}/open`, masked: "nothing" },
    { name: "gateway, no rule for the answer", url: `${guarded.gateway}/open`, masked: "nothing" },
    { name: "gateway, 3 fields", url: `${guarded.gateway}/masked`, masked: "everywhere" },
    { name: "gateway, 3 fields with conditions", url: `${guarded.gateway}/owned`, masked: "of others" },
  ];
  const agents = setups.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const ask = async (index: number, bytes: number) =>
    read(`${setups[index]!.url}/${bytes}`, agents[index]!, guarded.authorization);
  try {
    const rows: Row[] = [];
    for (const { document, bytes, requests } of SIZES) {
      for (const [index, { masked, name }] of setups.entries()) {
        if (maskedIn(await ask(index, bytes)) !== masked) throw new Error(`${name}: not ${masked} masked`);
      }
      const found = await inTurns(setups.length, requests, (index) => ask(index, bytes));
      const base = median(found[1] ?? []);
      for (const [index, { name }] of setups.entries()) {
        const times = found[index] ?? [];
        rows.push({
          document,
          setup: name,
          p50_ms: median(times),
          p99_ms: percentile(times, 0.99),
          p50_to_no_rule: median(times) / base,
        });
      }
    }
    return rows;
  } finally {
    for (const agent of agents) agent.destroy();
    await guarded.stop();
  }
}

/** Milliseconds of each call, by set-up; the first tenth is not counted: the processes compile their hot paths. */
async function inTurns(
  setups: number,
  rounds: number,
  call: (index: number) => Promise<unknown>,
): Promise<readonly (readonly number[])[]> {
  const times = Array.from({ length: setups }, (): number[] => []);
  const warm = Math.ceil(rounds / 10);
  for (let round = 0; round < rounds + warm; round++) {
    for (const [index, list] of times.entries()) {
      const started = performance.now();
      await call(index);
      if (round >= warm) list.push(performance.now() - started);
    }
  }
  return times;
}

function read(url: string, agent: Agent, authorization: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks));
        else reject(new Error(`${url}: ${response.statusCode ?? 0}`));
      });
    }).on("error", reject);
  });
}

interface Customer {
  readonly owner: string;
  readonly ssn: string;
}

/** How an answer was masked. The caller is u-1. */
function maskedIn(body: Buffer): Setup["masked"] | "otherwise" {
  const { customers } = JSON.parse(body.toString()) as { readonly customers: readonly Customer[] };
  const isMasked = ({ ssn }: Customer) => ssn.startsWith("***");
  if (!customers.some(isMasked)) return "nothing";
  if (customers.every(isMasked)) return "everywhere";
  return customers.every((one) => isMasked(one) === (one.owner !== "u-1")) ? "of others" : "otherwise";
}
