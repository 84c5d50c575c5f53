// ScriptedInstance: an instance of a workload in memory, which goes through the phases that the script of its image has.
import type { Clock } from '../../../kit/clock.ts';

/** How instances of an image behave. */
export interface ImageScript {
  /** Time to pull the image; undefined: it cannot be pulled. */
  readonly pullMs: number | undefined;
  readonly startMs: number;
  /** Time after which an instance that is ready crashes, each time. */
  readonly crashAfterMs?: number;
  /** Time that an instance takes to stop. */
  readonly stopMs: number;
  /** Lines that an instance writes when it is ready. */
  readonly output?: readonly string[];
}

export type Phase = 'pulling' | 'starting' | 'ready' | 'crashed' | 'stopping' | 'gone';

/** Time after which a crashed instance is started again. */
const RESTART_MS = 1000;

interface Line {
  readonly atMs: number;
  readonly text: string;
}

export class ScriptedInstance {
  readonly name: string;
  readonly generation: number;
  readonly image: string;
  phase: Phase = 'pulling';
  /** Why its output cannot be read. */
  unreadable: string | undefined;
  readonly #script: ImageScript | undefined;
  readonly #clock: Clock;
  readonly #changed: () => void;
  #lines: Line[] = [];
  #previousLines: Line[] | undefined;
  #cancel = () => {};

  constructor(options: {
    readonly name: string;
    readonly generation: number;
    readonly image: string;
    /** Undefined: there is no such image. */
    readonly script: ImageScript | undefined;
    readonly clock: Clock;
    readonly changed: () => void;
  }) {
    this.name = options.name;
    this.generation = options.generation;
    this.image = options.image;
    this.#script = options.script;
    this.#clock = options.clock;
    this.#changed = options.changed;
    if (this.#script?.pullMs !== undefined) this.#later(this.#script.pullMs, () => this.#start());
  }

  get isServing(): boolean {
    return this.phase === 'ready';
  }

  /** Whether its image cannot be pulled. */
  get isStuck(): boolean {
    return this.phase === 'pulling' && this.#script?.pullMs === undefined;
  }

  /** An instance that is running ends by itself, and is started again. */
  crash(): void {
    this.#write('crashed');
    this.#become('crashed');
    this.#later(RESTART_MS, () => {
      this.#previousLines = this.#lines;
      this.#lines = [];
      this.#start();
    });
  }

  stop(): void {
    if (this.phase === 'stopping' || this.phase === 'gone') return;
    this.#become('stopping');
    this.#later(this.#script?.stopMs ?? 0, () => this.#become('gone'));
  }

  /** Undefined: it was never restarted. */
  lines(previous: boolean, sinceMs: number): readonly string[] | undefined {
    const lines = previous ? this.#previousLines : this.#lines;
    return lines?.filter(({ atMs }) => atMs >= sinceMs).map(({ text }) => text);
  }

  #start(): void {
    this.#write(`starting ${this.image}`);
    this.#become('starting');
    this.#later(this.#script!.startMs, () => {
      for (const line of this.#script!.output ?? ['ready']) this.#write(line);
      this.#become('ready');
      const { crashAfterMs } = this.#script!;
      if (crashAfterMs !== undefined) this.#later(crashAfterMs, () => this.crash());
    });
  }

  #become(phase: Phase): void {
    this.phase = phase;
    this.#changed();
  }

  #later(ms: number, callback: () => void): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, callback);
  }

  #write(text: string): void {
    this.#lines.push({ atMs: this.#clock.nowMs(), text });
  }
}
