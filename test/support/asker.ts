import { connect } from "node:http2";
import { Agent, request } from "node:http";

/** One client that asks again and again over one connection. */
export interface Asker {
  get(
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: string }>;
  close(): void;
}

export function overHttp1(url: string): Asker {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    get: (path, headers) =>
      new Promise((resolve, reject) => {
        request(`${url}${path}`, { headers, agent }, (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
          response.on("error", reject).on("end", () => {
            resolve({ status: response.statusCode ?? 0, body });
          });
        })
          .on("error", reject)
          .end();
      }),
    close() {
      agent.destroy();
    },
  };
}

export function overHttp2(url: string): Asker {
  const session = connect(url);
  // each request fails with it
  session.on("error", () => undefined);
  return {
    get: (path, headers) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":path": path, ...headers });
        let [status, body] = [0, ""];
        stream.on("response", (answer) => (status = answer[":status"] ?? 0));
        stream.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
        stream.on("error", reject).on("end", () => {
          resolve({ status, body });
        });
        stream.end();
      }),
    close() {
      session.close();
    },
  };
}
