import { spawn } from "node:child_process";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type express from "express";
import fastify from "fastify";
import { installPythonPackages } from "./python-packages.ts";

/** An application behind a gateway. */
export interface Application {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves on a free port of 127.0.0.1. */
export async function serve(listener: RequestListener): Promise<Application> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The types are those of Express 5, which fit what is used of Express 4 here. */
export const express4 = createRequire(import.meta.url)("express4") as typeof express;

/** A shop as people write it with Express. @param requests - each is added as it arrives */
export function expressShop(create: typeof express, requests: string[]): RequestListener {
  const app = create();
  app.use((request, _response, next) => {
    requests.push(`${request.method} ${request.originalUrl}`);
    next();
  });
  app.use(create.json(), create.urlencoded({ extended: true }));
  app.get("/orders/:id", (request, response) => {
    response.json({ id: request.params.id, user: request.get("x-user-id"), page: request.query["page"] });
  });
  app.post("/orders", (request, response) => {
    response.status(201).json(request.body);
  });
  app.post("/form", (request, response) => {
    response.cookie("flash", "saved", { httpOnly: true }).redirect(303, "/public");
    requests.push(JSON.stringify(request.body));
  });
  app.get("/public", (_request, response) => {
    response.type("html").send("<p>public</p>");
  });
  return app;
}

/** The same with Fastify. */
export async function startFastifyShop(requests: string[]): Promise<Application> {
  const app = fastify();
  app.addHook("onRequest", (request, _reply, done) => {
    requests.push(`${request.method} ${request.url}`);
    done();
  });
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(body.toString())));
    },
  );
  app.get("/orders/:id", (request) => {
    const { id } = request.params as { id: string };
    return { id, user: request.headers["x-user-id"], page: (request.query as { page?: string }).page };
  });
  app.post("/orders", (request, reply) => reply.code(201).send(request.body));
  app.post("/form", (request, reply) => {
    requests.push(JSON.stringify(request.body));
    return reply.header("set-cookie", "flash=saved; Path=/; HttpOnly").redirect("/public", 303);
  });
  app.get("/public", (_request, reply) => reply.type("text/html; charset=utf-8").send("<p>public</p>"));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

const REQUIREMENTS = fileURLToPath(new URL("frameworks-requirements.txt", import.meta.url));

async function spawnPython(script: string, args: readonly string[]) {
  const packages = await installPythonPackages("frameworks", REQUIREMENTS);
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn("python3", [file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}

/** Starts a server in Python that prints its port. */
export async function startPython(script: string, ...args: readonly string[]): Promise<Application> {
  const child = await spawnPython(script, args);
  const [port] = (await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([code]) => {
      throw new Error(`${script} ended with ${String(code)}`);
    }),
  ])) as [Buffer];
  return {
    url: `http://127.0.0.1:${port.toString().trim()}`,
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs a program in Python to its end. @returns what it printed, which is JSON */
export async function runPython(script: string, ...args: readonly string[]): Promise<unknown> {
  const child = await spawnPython(script, args);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return JSON.parse(text);
}
