/**
 * A process of its own: asks `argv[2]` with the token in `TOKEN`, `argv[3]` times per second for `argv[4]` seconds, whether answers
 * come or not. Prints, as JSON, the status codes by how many there were, and how long answers took, in ms and in order: from when
 * a request was due, so that nothing is hidden by requests that could only be sent late.
 */
import { Agent, get } from "node:http";

const [url = "", rate = "200", seconds = "10"] = process.argv.slice(2);
const headers = { authorization: `Bearer ${process.env["TOKEN"]}` };
const agent = new Agent({ keepAlive: true });
const pause = 1000 / Number(rate);
const most = Number(rate) * Number(seconds);
const took: number[] = [];
const statuses: Record<string, number> = {};
const begin = performance.now();
let sent = 0;

function answered(due: number, status: number | string): void {
  took.push(performance.now() - due);
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (took.length < most) return;
  agent.destroy();
  process.stdout.write(
    JSON.stringify({ statuses, took: took.sort((a, b) => a - b).map((ms) => Number(ms.toFixed(2))) }),
  );
}

function ask(due: number): void {
  get(url, { agent, headers }, (response) => {
    response.resume().on("end", () => {
      answered(due, response.statusCode ?? "none");
    });
  }).on("error", () => {
    answered(due, "failed");
  });
}

const sending = setInterval(() => {
  for (; sent < most && begin + sent * pause <= performance.now(); sent += 1) ask(begin + sent * pause);
  if (sent >= most) clearInterval(sending);
}, 1);
