/**
 * A process of its own: asks `argv[2]` without a token `argv[3]` times per second, over HTTP/2, whether answers come or not. Says
 * when it has its first answer, and what it counted when it is told to stop.
 */
import { connect } from "node:http2";

const [url = "", rate = "1000"] = process.argv.slice(2);
const CONNECTIONS = 20;
const TICK_MS = 10;
/** As many as the gateway takes on so many connections. */
const MOST_OPEN = 100 * CONNECTIONS;
const { origin, pathname } = new URL(url);
const counts: Record<string, number> = {};
let open = 0;
let sent = 0;

const sessions = Array.from({ length: CONNECTIONS }, () => {
  const session = connect(origin);
  session.on("error", () => undefined);
  return session;
});

function ask(): void {
  const session = sessions[sent++ % CONNECTIONS];
  if (session === undefined || session.destroyed) return;
  open += 1;
  const stream = session.request({ ":path": pathname });
  stream.on("response", (headers) => {
    const status = String(headers[":status"]);
    if (Object.keys(counts).length === 0) process.send?.("started");
    counts[status] = (counts[status] ?? 0) + 1;
  });
  stream.on("error", () => undefined);
  stream.on("close", () => (open -= 1));
  stream.resume();
}

setInterval(() => {
  for (let index = 0; index < (Number(rate) * TICK_MS) / 1000 && open < MOST_OPEN; index++) ask();
}, TICK_MS);
process.on("message", () => {
  process.send?.(counts, () => process.exit());
});
// it exits with the benchmark
process.on("disconnect", () => process.exit());
