// PodRuntimes: real runtimes for the pods of modules on a scripted node. Each container `runtime` is a process with the variables and the files of its
// pod, and the volume of its claim is a folder. An image that was not published cannot be pulled. Pods have addresses of loopback, which differ from those that the node reports.
//
// Invariant: a runtime is started once for each pod, and ends before the pod does.
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { CONTAINER_NAMES } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import type { ContainerReport } from './container-report.ts';
import { mountedFiles, type SecretReader } from './mounted-files.ts';
import type { NodeLogs } from './node-logs.ts';
import { PodSandbox } from './pod-sandbox.ts';
import type { Container, Pod } from './read-manifests.ts';

export interface PodRuntimesOptions {
  readonly secretOf: SecretReader;
  /** Gets what runtimes log. */
  readonly logs: NodeLogs;
  /** Folder for the files of pods and volumes. */
  readonly folder: string;
  /** Is called when a report has changed. */
  readonly changed: () => void;
}

interface Run {
  report: ContainerReport;
  sandbox: PodSandbox | undefined;
  isEnding: boolean;
}

const POLL_MS = 50;
const WAITING: ContainerReport = { kind: 'waiting', reason: 'ContainerCreating' };

export class PodRuntimes {
  readonly #options: PodRuntimesOptions;
  readonly #modules = new Map<string, Uint8Array>();
  readonly #runs = new Map<string, Run>();

  constructor(options: PodRuntimesOptions) {
    this.#options = options;
  }

  /** From now on an image copies this module into its pods. */
  publish(image: string, module: Uint8Array): void {
    this.#modules.set(image, module);
  }

  /** Returns the report of a pod, and starts its runtime the first time; undefined: the pod has no module. */
  report(pod: KubeObject): Readonly<Record<string, ContainerReport>> | undefined {
    const { initContainers = [] } = pod['spec'] as Pod;
    const image = initContainers.find(({ name }) => name === CONTAINER_NAMES.module)?.image;
    if (image === undefined) return undefined;
    const module = this.#modules.get(image);
    if (module === undefined) return { [CONTAINER_NAMES.module]: notPulled(image) };
    const uid = pod.metadata.uid!;
    let run = this.#runs.get(uid);
    if (run === undefined) {
      run = { report: WAITING, sandbox: undefined, isEnding: false };
      this.#runs.set(uid, run);
      void this.#start(pod, module, run);
    }
    return { [CONTAINER_NAMES.runtime]: run.report };
  }

  /** Address of the only runtime of a service that is ready; undefined: there is none. */
  addressOf(service: string): string | undefined {
    const ready = [...this.#runs.values()].filter(({ report }) => report.kind === 'ready');
    return ready.find(({ sandbox }) => sandbox!.name.startsWith(`${service}-`))?.sandbox!.address;
  }

  /** Ends the runtime of a pod, as a kubelet does. */
  async end({ metadata }: Pick<KubeObject, 'metadata'>): Promise<void> {
    const run = this.#runs.get(metadata.uid!);
    if (run === undefined) return;
    run.isEnding = true;
    await run.sandbox?.stop();
    this.#runs.delete(metadata.uid!);
  }

  /** Kills all runtimes. */
  async kill(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const run of runs) run.isEnding = true;
    await Promise.all(runs.map(({ sandbox }) => sandbox?.kill() ?? Promise.resolve()));
  }

  async #start(pod: KubeObject, module: Uint8Array, run: Run): Promise<void> {
    const { secretOf, folder, logs } = this.#options;
    const { namespace, name } = pod.metadata;
    const { containers } = pod['spec'] as Pod;
    const runtime = containers.find(
      (one): one is Container => one.name === CONTAINER_NAMES.runtime,
    )!;
    let files: Readonly<Record<string, Uint8Array>> | undefined;
    while (files === undefined) {
      files = await mountedFiles(pod, runtime, secretOf);
      if (files === undefined) await delay(POLL_MS);
      if (run.isEnding) return;
    }
    const sandbox = new PodSandbox(runtime, {
      name,
      address: `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`,
      folder: mkdtempSync(join(folder, 'pod-')),
      files: { ...files, '/service/module.wasm': module },
      hosts: { localhost: '127.0.0.1' },
      dataFolder: join(folder, `claim-${namespace}-${name}`),
      onLine: (line) => logs.write(name, CONTAINER_NAMES.runtime, line),
    });
    run.sandbox = sandbox;
    void sandbox.ended().then((exitCode) => {
      if (!run.isEnding)
        this.#change(run, {
          kind: 'ended',
          end: { exitCode: exitCode ?? 137, reason: 'Error', message: sandbox.log.slice(-1000) },
        });
    });
    this.#change(run, { kind: 'not-ready' });
    while (run.report.kind === 'not-ready' && !run.isEnding) {
      if (await isReady(sandbox)) this.#change(run, { kind: 'ready' });
      else await delay(POLL_MS);
    }
  }

  #change(run: Run, report: ContainerReport): void {
    run.report = report;
    this.#options.changed();
  }
}

/** Returns the report of a container whose image cannot be pulled. */
function notPulled(image: string): ContainerReport {
  return {
    kind: 'waiting',
    reason: 'ImagePullBackOff',
    message: `Back-off pulling image "${image}"`,
  };
}

/** Asks the readiness probe of a pod. */
async function isReady({ address }: PodSandbox): Promise<boolean> {
  return await fetch(`http://${address}:7626/ready`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}
