import { request, type Agent } from "node:http";

/** @returns the status of a GET on this port, or the code of what went wrong */
export function answerOf(
  port: number,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
  path: string,
): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent }, (response) => {
      response.resume();
      response.on("end", () => {
        resolve(response.statusCode ?? "no status");
      });
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
    sent.end();
  });
}
