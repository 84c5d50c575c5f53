// FolderUnderLoad: one data folder, on which a process is started, put under load and killed, again and again. Before
// each load it is compared with the model, and some of the time the file of snapshots is not what the process left.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { JournalReader } from '../../../host/storage/sqlite/journal-reader.ts';
import { SvcProcess } from '../host-process.ts';
import { Random } from '../random.ts';
import { type CartAnswer, CartClient, itemsIn } from './cart-client.ts';
import { CartModel, type CartRequest, skuOf } from './cart-model.ts';
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

const CARTS = Array.from({ length: 12 }, (_, index) => `cart-${index}`);
const LANES_PER_CART = 2;
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
  readonly #model = new CartModel();
  readonly #disk: FaultDisk | undefined;
  #random: Random;
  #rounds = 0;
  #lastNumber = 0;
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
    for (const request of this.#model.toRepeat(() => this.#random.chance(5)))
      await this.#ask(client, request);
    const path = journalPath(this.#given.data);
    checkNumbers(path);
    const reader = new JournalReader(path);
    try {
      for (const cart of CARTS) {
        const entity = { component: 'shopping-cart', id: cart };
        const items = this.#model.check(cart, reader.read(entity, 0, Number.MAX_SAFE_INTEGER));
        const told = itemsIn(await client.cart(cart));
        assert.deepEqual(told, items, `${cart} is not what its journal says`);
      }
    } finally {
      reader.close();
    }
  }

  /** Until enough was answered; whatever is under way then is killed. */
  async #load(client: CartClient, svc: SvcProcess): Promise<void> {
    const enough = 1 + this.#random.below(200);
    const before = this.#model.answered;
    let ended = false;
    const lane = async (cart: string, number: number, random: Random): Promise<void> => {
      while (!ended) {
        const went = await this.#ask(client, this.#request(cart, number, random));
        if (!went) return;
        if (random.chance(20)) await client.cart(cart).catch(() => undefined);
        if (!ended && this.#model.answered - before >= enough) {
          ended = true;
          svc.child.kill('SIGKILL');
        }
      }
    };
    const lanes: Promise<void>[] = [];
    for (const cart of CARTS)
      for (let number = 0; number < LANES_PER_CART; number++)
        lanes.push(lane(cart, number, new Random(this.#random.below(2 ** 31))));
    await Promise.all(lanes);
    assert(ended, `the service ended by itself:\n${svc.stderr}`);
  }

  #request(cart: string, lane: number, random: Random): CartRequest {
    const number = ++this.#lastNumber;
    return {
      number,
      cart,
      lane,
      kind: random.chance(8) ? 'remove' : 'add',
      key: random.chance(60) ? `request-${number}` : undefined,
    };
  }

  /** False when the connection broke. Throws when the answer breaks a rule. */
  async #ask(client: CartClient, request: CartRequest): Promise<boolean> {
    const model = this.#model;
    model.sent(request);
    let answer: CartAnswer;
    try {
      answer = await client.ask(request);
    } catch {
      model.uncertain(request);
      this.#done.unanswered++;
      return false;
    }
    const { status, text } = answer;
    // Of a journal that is closed it says so too: its page names the exception.
    if (status === 503 && text.includes('SVC_JOURNAL_UNAVAILABLE')) model.uncertain(request);
    else if (status === 503) model.refused(request);
    else {
      assert(status === 200 || status === 204, `request ${request.number}: ${status} ${text}`);
      const repeats = model.repeated;
      model.answeredWith(request, `${status} ${text}`);
      if (model.repeated > repeats) this.#done.repeated++;
      else this.#done.answered++;
      if (request.kind === 'add') {
        const items = itemsIn(text);
        assert(items.includes(skuOf(request)), `${skuOf(request)} is not in the reply to it`);
      }
    }
    return true;
  }
}

/** What a log says of an entity that was not what its events make, or that could not be had. */
function failureIn(log: string): string {
  const [line] = /^.*an entity failed.*$/m.exec(log) ?? [];
  return line === undefined ? '' : `, its log says: ${line}`;
}
