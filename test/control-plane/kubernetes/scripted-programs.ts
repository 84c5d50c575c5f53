// ScriptedPrograms are the programs of images on a scripted node: pods of them start, write a line, crash and are started again.
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { ContainerReport } from '../../support/kubernetes/container-report.ts';
import { READY, type ScriptedNode } from '../../support/kubernetes/scripted-node.ts';

export const IMAGES = {
  good: 'registry.example/web/good:1',
  other: 'registry.example/web/other:1',
  missing: 'registry.example/web/missing:1',
  crashing: 'registry.example/web/crashing:1',
  /** The pod of it waits for what it mounts. */
  waiting: 'registry.example/web/waiting:1',
};

/** Name of the container with the program. */
const PROGRAM = 'service';
/** Time after which a crashing program crashes, and time until a program is started again, in milliseconds. */
const CRASH_MS = 300;
const RESTART_MS = 700;

/** Reports of the containers of a pod, by their names. */
export type Reports = Readonly<Record<string, ContainerReport>>;

interface Run {
  readonly pod: string;
  restarts: number;
  isDown: boolean;
}

interface Container {
  readonly name: string;
  readonly image: string;
}

export class ScriptedPrograms {
  readonly #node: ScriptedNode;
  readonly #others: (pod: KubeObject) => Reports | undefined;
  readonly #runs = new Map<string, Run>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #notReady = new Set<string>();

  /** `others` reports pods whose programs are not scripted. */
  constructor(
    node: ScriptedNode,
    others: (pod: KubeObject) => Reports | undefined = () => undefined,
  ) {
    this.#node = node;
    this.#others = others;
    this.update();
  }

  /** Ends the program of a pod as if it had crashed. It is started again after a while. */
  crash(uid: string): void {
    const run = this.#runs.get(uid)!;
    run.isDown = true;
    run.restarts++;
    this.#node.logs.restart(run.pod, PROGRAM);
    this.update();
    this.#after(RESTART_MS, () => {
      run.isDown = false;
      this.#write(run);
      this.update();
    });
  }

  /** Sets whether the programs of an image are ready while they run. */
  setReady(image: string, isReady: boolean): void {
    if (isReady) this.#notReady.delete(image);
    else this.#notReady.add(image);
    this.update();
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#node.script(() => READY);
  }

  /** Reports every pod again. */
  update(): void {
    this.#node.script((pod) => this.#others(pod) ?? this.#report(pod));
  }

  #report(pod: KubeObject): Reports {
    const { containers } = pod['spec'] as { readonly containers: readonly Container[] };
    const program = containers.find(({ name }) => name === PROGRAM) ?? containers[0]!;
    const report = this.#programReport(pod, program.image);
    // The platform's container is ready if the program is. What a pod mounts is there for all containers or none.
    const isWhole = report.kind === 'ready' || program.image === IMAGES.waiting;
    const others: ContainerReport = isWhole ? report : { kind: 'not-ready' };
    return Object.fromEntries(
      containers.map(({ name }) => [name, name === program.name ? report : others]),
    );
  }

  #programReport({ metadata }: KubeObject, image: string): ContainerReport {
    if (image === IMAGES.missing)
      return {
        kind: 'waiting',
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image "${image}"`,
      };
    if (image === IMAGES.waiting) return { kind: 'waiting', reason: 'ContainerCreating' };
    const run = this.#runs.get(metadata.uid!) ?? this.#begin(metadata, image);
    const { restarts } = run;
    if (run.isDown) return { kind: 'ended', restarts, end: { exitCode: 1, reason: 'Error' } };
    return {
      kind: this.#notReady.has(image) ? 'not-ready' : 'ready',
      restarts,
      ...(restarts === 0 ? {} : { lastEnd: { exitCode: 1, reason: 'Error' } }),
    };
  }

  #begin({ uid, name: pod }: KubeObject['metadata'], image: string): Run {
    const run = { pod, restarts: 0, isDown: false };
    this.#runs.set(uid!, run);
    this.#write(run);
    const crashLater = () =>
      this.#after(CRASH_MS, () => {
        this.crash(uid!);
        this.#after(RESTART_MS, crashLater);
      });
    if (image === IMAGES.crashing) crashLater();
    return run;
  }

  #write({ pod, restarts }: Run): void {
    for (const line of ['starting', `run ${restarts} listens`])
      this.#node.logs.write(pod, PROGRAM, line);
  }

  #after(ms: number, callback: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, ms);
    this.#timers.add(timer);
  }
}
