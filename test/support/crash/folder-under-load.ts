// FolderUnderLoad: one data folder, on which a process is started, put under load and killed, again and again. Before
// each load it is compared with the model, and some of the time the file of snapshots is not what the process left.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { JournalReader } from '../../../host/storage/sqlite/journal-reader.ts';
import { SvcProcess } from '../host-process.ts';
import { Random } from '../random.ts';
import { CartClient, itemsIn } from './cart-client.ts';
import { CARTS, CartLoad, type Judge, type Lane } from './cart-load.ts';
import type { CrashRoundsDone } from './crash-rounds.ts';
import { FaultDisk, faultDiskProblem } from './fault-disk.ts';
import { checkNumbers } from './journal-model.ts';
import {
  type SnapshotFiles,
  countSnapshots,
  damageSnapshots,
  putSnapshots,
  takeSnapshots,
} from './snapshot-files.ts';

/** A journal that is closed is unavailable too, so that this code alone does not say that nothing was done. */
const judge: Judge = ({ status, text }) => {
  if (status !== 503) return undefined;
  return text.includes('SVC_JOURNAL_UNAVAILABLE') ? 'uncertain' : 'refused';
};
/** How long a write to the log takes in every other round, so that a kill meets commands that are not stored yet. */
const SLOW_WRITE_MS = 2;
/** More than a round takes: a service that does not answer is a violation, and not waited for. */
const ROUND_MS_MAX = 120_000;
const SETTINGS: Readonly<Record<string, number>> = {
  // Fewer than there are carts, so that they leave memory and come back, most of them from a snapshot.
  'svc.engine.live-entities-max': 4,
  'svc.engine.snapshot-interval-events': 3,
  'svc.engine.idle-timeout-ms': 100,
};

export interface FolderNeeds {
  readonly module: string;
  /** An empty folder. */
  readonly data: string;
  readonly seed: number;
  /** Snapshots of another journal. */
  readonly foreign: SnapshotFiles | undefined;
  readonly done: CrashRoundsDone;
}

export class FolderUnderLoad {
  readonly #given: FolderNeeds;
  readonly #done: CrashRoundsDone;
  readonly #callers: CartLoad;
  readonly #disk: FaultDisk | undefined;
  #random: Random;
  #rounds = 0;
  #snapshots: SnapshotFiles = new Map();
  /** What was done to them last. */
  #damage = 'as they were left';

  constructor(given: FolderNeeds) {
    this.#given = given;
    const beside = `${given.data}-beside`;
    mkdirSync(beside);
    this.#disk = faultDiskProblem() === undefined ? new FaultDisk(given.data, beside) : undefined;
    this.#random = new Random(given.seed);
    this.#done = given.done;
    this.#callers = new CartLoad(given.done, judge);
  }

  /** As the last process has left them. */
  get snapshots(): SnapshotFiles {
    return this.#snapshots;
  }

  /** Starts, checks what an earlier round left, makes load, and kills. */
  async round(shards: number): Promise<void> {
    // Not shifted by what came before, which no seed repeats.
    this.#random = new Random(this.#given.seed * 1_000 + ++this.#rounds);
    const random = this.#random;
    if (random.chance(25)) {
      const { foreign } = this.#given;
      const others = foreign === undefined ? [this.#snapshots] : [this.#snapshots, foreign];
      const before = takeSnapshots(this.#given.data);
      this.#damage = damageSnapshots(this.#given.data, random, others);
      this.#snapshots = before;
    }
    if (random.chance(10)) {
      // While it starts.
      await this.#with(shards, () => pause(random.below(700)));
    } else
      await this.#with(shards, async (svc) => {
        await this.#served(svc, async (client) => {
          await this.#check(client);
          if (random.chance(50))
            this.#disk?.control.fail({
              mode: 'slow',
              kind: 'write',
              suffix: 'journal.sqlite-wal',
              first: 1,
              last: Number.MAX_SAFE_INTEGER,
              delayMs: SLOW_WRITE_MS,
            });
          await this.#load(client, svc);
        });
      });
    this.#disk?.control.heal();
    this.#done.kills++;
  }

  /** Looks at what the last round left, with its snapshots and without. */
  async end(): Promise<void> {
    const told = (): Promise<readonly string[]> =>
      this.#with(1, (svc) =>
        this.#served(svc, async (client) => {
          await this.#check(client);
          return Promise.all(CARTS.map((cart) => client.cart(cart)));
        }),
      );
    const before = await told();
    this.#snapshots = takeSnapshots(this.#given.data);
    this.#done.snapshots += countSnapshots(this.#given.data);
    putSnapshots(this.#given.data, new Map());
    assert.deepEqual(await told(), before, 'without its snapshots it answers something else');
  }

  /** A process, which is killed in the end. */
  async #with<T>(shards: number, work: (svc: SvcProcess) => Promise<T>): Promise<T> {
    const { module, data } = this.#given;
    const set = Object.entries(SETTINGS).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const place = ['--port', '0', '--data', data, '--log', 'json', '--shards', String(shards)];
    const svc = new SvcProcess(['run', module, ...place, ...set], { env: this.#disk?.env ?? {} });
    let isLate = false;
    const watch = setTimeout(() => {
      isLate = true;
      svc.child.kill('SIGKILL');
    }, ROUND_MS_MAX);
    let answer: T;
    try {
      answer = await work(svc);
    } catch (error) {
      await svc.end('SIGKILL');
      const why = isLate ? `it did not end within ${ROUND_MS_MAX} ms: ` : '';
      const told = `shards: ${shards}, snapshots: ${this.#damage}${failureIn(svc.stderr)}`;
      throw new Error(`${why}${String(error)}, ${told}`, { cause: error });
    } finally {
      clearTimeout(watch);
    }
    await svc.end('SIGKILL');
    assert.equal(failureIn(svc.stderr), '');
    return answer;
  }

  async #served<T>(svc: SvcProcess, work: (client: CartClient) => Promise<T>): Promise<T> {
    const client = new CartClient(await svc.listening());
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  async #check(client: CartClient): Promise<void> {
    const { model } = this.#callers;
    for (const request of model.toRepeat(() => this.#random.chance(5)))
      await this.#callers.ask(client, request);
    const path = journalPath(this.#given.data);
    checkNumbers(path);
    const reader = new JournalReader(path);
    try {
      for (const cart of CARTS) {
        const entity = { component: 'shopping-cart', id: cart };
        const items = model.check(cart, reader.read(entity, 0, Number.MAX_SAFE_INTEGER));
        const told = itemsIn(await client.cart(cart));
        assert.deepEqual(told, items, `${cart} is not what its journal says`);
      }
    } finally {
      reader.close();
    }
  }

  /** Until enough was answered; whatever is under way then is killed. */
  async #load(client: CartClient, svc: SvcProcess): Promise<void> {
    const callers = this.#callers;
    const enough = 1 + this.#random.below(200);
    const before = callers.model.answered;
    let ended = false;
    const ask = async (lane: Lane): Promise<void> => {
      while (!ended) {
        if ((await callers.ask(client, callers.request(lane))) === 'broken') return;
        if (lane.random.chance(20)) await client.cart(lane.cart).catch(() => undefined);
        if (!ended && callers.model.answered - before >= enough) {
          ended = true;
          svc.child.kill('SIGKILL');
        }
      }
    };
    await Promise.all(callers.lanes(this.#random).map(ask));
    assert(ended, `the service ended by itself:\n${svc.stderr}`);
  }
}

/** What a log says of an entity that was not what its events make, or that could not be had. */
function failureIn(log: string): string {
  const [line] = /^.*an entity failed.*$/m.exec(log) ?? [];
  return line === undefined ? '' : `, its log says: ${line}`;
}
