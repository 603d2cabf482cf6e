import assert from "node:assert/strict";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/free-port.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { configMapOf, podsOf, type Container, type PodSpec, type Probe } from "./helm.ts";
import type { Processes } from "./processes.ts";
import type { Resource } from "./schemas.ts";

const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));
/** A path in a container, in arguments, variables and files. */
const PATH = /(?<![\w.:/])\/(?:etc|var|tmp|run|usr|app)\b[\w./-]*/g;

/** What a cluster has besides the chart. */
export interface Cluster {
  readonly resources: readonly Resource[];
  /** Secrets by name, each with its keys. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Variables that only this machine needs. */
  readonly env: NodeJS.ProcessEnv;
}

/** A container's process, with its volumes in a folder and its ports on this machine. */
export interface RunningPod {
  /** Address and port of one of its ports. */
  readonly at: (port: string) => string;
  /** What a command in the container is run with: its files and variables. */
  readonly exec: { readonly path: (inContainer: string) => string; readonly env: NodeJS.ProcessEnv };
  printed(): string;
}

/**
 * Runs the pods of rendered manifests as processes: the same arguments, variables, files and probes, with paths in a temporary
 * folder and ports that are free here. A path that no volume has is an error, as is a Secret or key that does not exist.
 */
export class PodRunner {
  readonly #cluster: Cluster;
  readonly #processes: Processes;
  readonly #ports: Map<string, number>;
  readonly #folders = new Map<string, string>();

  /** @param before - of the same cluster: its pods keep their ports */
  constructor(cluster: Cluster, processes: Processes, before?: PodRunner) {
    this.#ports = before === undefined ? new Map<string, number>() : before.#ports;
    this.#cluster = cluster;
    this.#processes = processes;
  }

  /** Starts the pod of a Deployment, and waits until its probes say that it has started and is ready. */
  async start(name: string): Promise<RunningPod> {
    const pod = podsOf(this.#cluster.resources).get(name);
    assert.ok(pod, name);
    const [container] = pod.containers;
    await this.#choosePorts();
    const root = await temporaryDirectory();
    const path = (words: string) => this.#inFolder(words, container, root);
    await this.#writeVolumes(pod, root, path);
    const env = { PATH: "/nonexistent", ...this.#cluster.env, ...this.#variables(container, path) };
    const args = container.args.map(path);
    const running = await this.#processes.start(
      process.execPath,
      [CLI, ...args],
      { cwd: join(root, "/var/lib/gatehouse"), env },
      async () =>
        (await this.#probed(name, container.startupProbe)) && this.#probed(name, container.readinessProbe),
    );
    assert.ok(await this.#probed(name, container.livenessProbe), "alive");
    return {
      printed: () => running.printed(),
      exec: { path, env },
      at: (port) => `127.0.0.1:${this.#portOf(name, port)}`,
    };
  }

  /** Replaces the data of a ConfigMap as the kubelet does, in every pod that mounts it. */
  async replaceConfigMap(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    for (const [folder, of] of this.#folders) if (of === name) await replaceData(folder, data);
  }

  async #choosePorts(): Promise<void> {
    for (const [name, { containers }] of podsOf(this.#cluster.resources))
      for (const { name: port } of containers[0].ports)
        if (!this.#ports.has(`${name} ${port}`)) this.#ports.set(`${name} ${port}`, await freePort());
  }

  #portOf(pod: string, port: string): number {
    const found = this.#ports.get(`${pod} ${port}`);
    assert.ok(found !== undefined, `${pod} has no port ${port}`);
    return found;
  }

  async #probed(name: string, { httpGet: { path, port, scheme } }: Probe): Promise<boolean> {
    const { status } = await getInsecurely(
      `${scheme.toLowerCase()}://127.0.0.1:${this.#portOf(name, port)}${path}`,
    );
    return status === 200;
  }

  #variables(container: Container, path: (words: string) => string): NodeJS.ProcessEnv {
    return Object.fromEntries(
      (container.env ?? []).map(({ name, value, valueFrom }) => {
        if (value !== undefined) return [name, path(value)];
        assert.ok(valueFrom, name);
        const { name: secret, key } = valueFrom.secretKeyRef;
        const found = this.#cluster.secrets[secret]?.[key];
        assert.ok(found !== undefined, `there is no key ${key} in a Secret ${secret}`);
        return [name, found];
      }),
    );
  }

  /** Puts the paths of a container into a folder; a path outside its volumes stays, and does not exist. */
  #inFolder(words: string, container: Container, root: string): string {
    return words.replaceAll(PATH, (path) => {
      const isMounted = container.volumeMounts.some(
        ({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`),
      );
      assert.ok(isMounted, `no volume has ${path}`);
      return join(root, path);
    });
  }

  async #writeVolumes(pod: PodSpec, root: string, path: (words: string) => string): Promise<void> {
    const [container] = pod.containers;
    for (const { name, mountPath } of container.volumeMounts) {
      const volume = pod.volumes.find((one) => one.name === name);
      const folder = join(root, mountPath);
      await mkdir(folder, { recursive: true });
      if (volume?.configMap !== undefined) {
        const data = configMapOf(this.#cluster.resources, volume.configMap.name);
        assert.ok(data, `there is no ConfigMap ${volume.configMap.name}`);
        const isConfig = Object.hasOwn(data, "gateway.yaml");
        const texts = isConfig
          ? mapValues(data, (yaml) => path(this.#withPorts(yaml, container.name)))
          : data;
        await replaceData(folder, texts);
        this.#folders.set(folder, volume.configMap.name);
      } else if (volume?.secret !== undefined) {
        const { secretName, items } = volume.secret;
        const data = this.#cluster.secrets[secretName];
        assert.ok(data, `there is no Secret ${secretName}`);
        const files = items ?? Object.keys(data).map((key) => ({ key, path: key }));
        for (const { key, path: file } of files) {
          assert.ok(data[key] !== undefined, `there is no key ${key} in a Secret ${secretName}`);
          await mkdir(dirname(join(folder, file)), { recursive: true });
          await writeFile(join(folder, file), data[key]);
        }
      } else assert.ok(volume?.emptyDir, `${name} is no volume`);
    }
  }

  /** Listeners get this machine's ports, by the ports that the container says it has, and Services the ones behind them. */
  #withPorts(yaml: string, component: string): string {
    const { resources } = this.#cluster;
    let result = yaml.replaceAll(/(?<!\d)0\.0\.0\.0/g, "127.0.0.1");
    for (const { metadata, spec } of resources.filter(({ kind }) => kind === "Service"))
      for (const { port, targetPort } of (spec as { ports: { port: number; targetPort: string }[] }).ports)
        result = result.replaceAll(
          `${metadata.name}.${metadata.namespace ?? ""}.svc:${port}`,
          `127.0.0.1:${this.#portOf(metadata.name, targetPort)}`,
        );
    for (const [name, { containers }] of podsOf(resources)) {
      if (containers[0].name !== component) continue;
      for (const { name: port, containerPort } of containers[0].ports)
        result = result.replaceAll(
          new RegExp(`(?<=port: |127\\.0\\.0\\.1:)${containerPort}$`, "gm"),
          String(this.#portOf(name, port)),
        );
    }
    return result;
  }
}

/** As the kubelet probes, and `curl --insecure` asks: whatever the certificate says. */
export async function getInsecurely(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const call = url.startsWith("https:")
    ? https.get(url, { headers, rejectUnauthorized: false, agent: false }, resolve)
    : http.get(url, { headers, agent: false }, resolve);
  call.on("error", reject);
  const response = await promise;
  return { status: response.statusCode ?? 0, body: await text(response) };
}

/** What the kubelet makes of a ConfigMap: `..data` is replaced as a whole, and what the pod opens are links into it. */
async function replaceData(folder: string, data: Readonly<Record<string, string>>): Promise<void> {
  const version = `..${process.hrtime.bigint()}`;
  await mkdir(join(folder, version));
  for (const [name, content] of Object.entries(data)) await writeFile(join(folder, version, name), content);
  await symlink(version, join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  for (const name of Object.keys(data)) {
    await rm(join(folder, name), { force: true });
    await symlink(`..data/${name}`, join(folder, name));
  }
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
