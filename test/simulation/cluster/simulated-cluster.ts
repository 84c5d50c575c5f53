// SimulatedCluster is three nodes of a service and their database in virtual time, with callers, and with everything that may go wrong. A
// seed decides everything, so that a history that fails is played again by its seed.
//
// Invariant: at most one generation of each node runs.
import type { EntityRef } from '../../../model/entity.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { ModelledServer } from '../../support/modelled-database/modelled-server.ts';
import { useModel } from '../../support/modelled-database/modelled-session.ts';
import type { DatabaseFlaws } from '../../support/modelled-database/statement-run.ts';
import { Random } from '../../support/random.ts';
import { joinNetwork } from '../../support/virtual/virtual-sockets.ts';
import { VirtualNetwork } from '../../support/virtual/virtual-network.ts';
import { type Clocks, VirtualProcess } from '../../support/virtual/virtual-process.ts';
import { VirtualTime } from '../../support/virtual/virtual-time.ts';
import { JournalWatch } from './journal-watch.ts';
import { pause, SimulatedCallers } from './simulated-callers.ts';
import { SimulatedNode } from './simulated-node.ts';

const NODES = 3;
const CALLERS = 5;
/** A start that has failed is repeated after this time, in milliseconds. */
const START_AGAIN_MS = 500;
/** Longest pause of a caller between two requests, in milliseconds. */
const PAUSE_MS = 250;
const CALM_PAUSE_MS = 20;
/** Clocks run faster or slower by at most so many millionths. */
const DRIFT = 8_000;
const MILLION = 1_000_000;
/** Wall clocks differ by at most so many milliseconds. */
const AHEAD_MS = 5_000;

export interface ClusterOptions {
  readonly seed: number;
  /** Whether nothing fails: calls of the guest take no time. */
  readonly isCalm: boolean;
  readonly flaws: DatabaseFlaws;
  /** Receives lines about what happens; undefined: nobody wants them. */
  readonly trace: ((line: string) => void) | undefined;
}

export class SimulatedCluster {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly network: VirtualNetwork;
  readonly database: ModelledServer;
  readonly callers: SimulatedCallers;
  readonly watch = new JournalWatch();
  /** The process of the simulation itself, with right clocks. */
  readonly outside: VirtualProcess;
  /** Whether wall clocks are set in this history; otherwise machines are suspended. */
  readonly setsClocks: boolean;
  /** So many of a hundred statements come late. */
  latePercent = 0;
  readonly #complaints: string[] = [];
  /** The nodes that run, or start, by their places. */
  readonly #nodes: (SimulatedNode | undefined)[];
  readonly #isCalm: boolean;
  readonly #isSlow: readonly boolean[];
  readonly #trace: ClusterOptions['trace'];
  #isOver = false;

  constructor({ seed, isCalm, flaws, trace }: ClusterOptions) {
    this.#trace = trace;
    this.#isCalm = isCalm;
    const random = new Random(seed);
    this.random = random;
    this.setsClocks = random.chance(50);
    this.network = new VirtualNetwork(random);
    this.outside = new VirtualProcess('callers', this.time, random, { rate: 1, aheadMs: 0 });
    this.network.add(this.outside);
    this.database = new ModelledServer({
      time: this.time,
      random,
      network: this.network,
      clocks: this.clocks(),
      flaws,
      onCommit: (transaction) => {
        this.watch.committed(transaction.deeds, this.database.tables);
        if (trace !== undefined)
          for (const line of transaction.shown()) this.trace(`commit: ${line}`);
      },
      onBug: (error) => this.complain((error as Error).stack ?? String(error)),
    });
    this.#nodes = Array.from({ length: NODES }, () => undefined);
    this.#isSlow = Array.from({ length: NODES }, () => !isCalm && random.chance(50));
    for (let place = 0; place < NODES; place++) this.start(place);
    this.callers = new SimulatedCallers({
      process: this.outside,
      network: this.network,
      random,
      nodes: () => this.nodes.filter(({ isServing }) => isServing),
      callers: CALLERS,
      pauseMs: isCalm ? CALM_PAUSE_MS : PAUSE_MS,
      answered: (entity) => this.checkOwners(entity),
    });
  }

  /** The nodes that run, or start. */
  get nodes(): readonly SimulatedNode[] {
    return this.#nodes.filter((node) => node !== undefined);
  }

  get places(): number {
    return NODES;
  }

  /** What no history may show. */
  get complaints(): readonly string[] {
    return [...this.#complaints, ...this.watch.complaints, ...this.callers.complaints];
  }

  at(place: number): SimulatedNode | undefined {
    return this.#nodes[place];
  }

  /** Sets the wall clocks of all nodes right: one whose clock is wrong is no member. */
  resetClocks(): void {
    for (const node of this.#nodes) node?.process.resetWall();
  }

  /** Draws the clocks of a machine. */
  clocks(): Clocks {
    return {
      rate: 1 + (this.random.below(2 * DRIFT) - DRIFT) / MILLION,
      aheadMs: this.random.below(2 * AHEAD_MS) - AHEAD_MS,
    };
  }

  /** Starts a node at a place where none runs. It starts again until it serves. */
  start(place: number): void {
    const process = new VirtualProcess(`node${place}`, this.time, this.random, this.clocks());
    joinNetwork(process, this.network);
    useModel(process, this.database);
    const node = new SimulatedNode(process, 'f1', this.#isSlow[place]!, {
      fault: (entity, fault) => {
        // The journal could not be read.
        if (fault instanceof SvcError && fault.code === 'SVC_JOURNAL_UNAVAILABLE') return;
        this.complain(`${node.name}: a fault of ${entity.id}: ${String(fault)}`);
      },
      moved: (entity) => {
        if (this.#isCalm) this.complain(`${node.name}: an append of ${entity.id} was given up`);
      },
      ended: (failure) => {
        if (!process.isDead) this.complain(`${node.name} has ended: ${String(failure)}`);
      },
    });
    this.#nodes[place] = node;
    process.onDeath(() => {
      if (this.#nodes[place] === node) this.#nodes[place] = undefined;
    });
    process.within(
      () =>
        void node.start().catch((error: unknown) => {
          if (!(error instanceof SvcError)) this.complain(`a start failed: ${String(error)}`);
          process.kill();
          if (!this.#isOver)
            this.outside.timer(START_AGAIN_MS, () => {
              if (this.#nodes[place] === undefined) this.start(place);
            });
        }),
    );
  }

  /** Lets a node hand over what it has, and start again. */
  replace(place: number): void {
    const node = this.#nodes[place];
    if (node === undefined || !node.isServing) return;
    node.process.onDeath(() =>
      this.outside.timer(this.random.below(300), () => this.#restart(place)),
    );
    node.process.arrives(0, () => void node.leave());
  }

  /** Kills a node, and starts it again after some time. */
  kill(place: number, afterMs: number): void {
    const node = this.#nodes[place];
    if (node === undefined) return;
    node.process.kill();
    this.outside.timer(afterMs, () => this.#restart(place));
  }

  #restart(place: number): void {
    if (!this.#isOver && this.#nodes[place] === undefined) this.start(place);
  }

  /** Complains if several nodes believe that they may answer for an entity. */
  checkOwners(entity: EntityRef): void {
    const holders = this.nodes.filter((node) => node.holds(entity));
    if (holders.length > 1)
      this.complain(
        `at ${this.time.nowMs.toFixed(3)} ms ${holders.map(({ name }) => name).join(' and ')} hold ${entity.component} ${entity.id}`,
      );
  }

  /** Notes something that happens, for whoever looks for the cause of a complaint. */
  trace(what: string): void {
    this.#trace?.(`${this.time.nowMs.toFixed(3)} ${what}`);
  }

  complain(what: string): void {
    this.trace(`complaint: ${what}`);
    this.#complaints.push(what);
  }

  /** Waits in virtual time. */
  pause(ms: number): Promise<void> {
    return pause(this.outside, ms);
  }

  /** Ends everything at once. */
  close(): void {
    this.#isOver = true;
    for (const node of this.nodes) node.process.kill();
    this.database.process.kill();
    this.outside.kill();
  }
}
