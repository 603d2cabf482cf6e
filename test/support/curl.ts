/** As much of curl as the printed examples use (`-si`, `-X`, `-H`, `-d`), for machines that have none. */
import { request } from "node:http";

const args = process.argv.slice(2);
const headers: Record<string, string> = {};
let method = "GET";
let url = "";
let body: string | undefined;
for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
  if (arg === "-X") method = args.shift() ?? "";
  else if (arg === "-H") {
    const [name = "", ...value] = (args.shift() ?? "").split(":");
    headers[name] = value.join(":").trim();
  } else if (arg === "-d") {
    body = args.shift();
    if (method === "GET") method = "POST";
  } else if (arg !== "-si") url = arg;
}
const { hostname, port } = new URL(url);
const path = url.slice(url.indexOf("/", "http://".length));
const call = request({ hostname, port, path, method, headers }, (answer) => {
  process.stdout.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n\r\n`);
  answer.pipe(process.stdout);
});
call.end(body);
