// CrashRounds: the real process under load, killed at a random moment, started again on its folder, and compared
// with the model. A few rounds share a folder.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { journalPath } from '../../../host/storage/journal-file.ts';
import { JournalReader } from '../../../host/storage/journal-reader.ts';
import { FaultDisk, faultDiskProblem } from './fault-disk.ts';
import { SvcProcess } from '../host-process.ts';
import { Random } from '../random.ts';
import { CartModel, type CartRequest, skuOf } from './cart-model.ts';
import { checkNumbers } from './journal-model.ts';

const CARTS = Array.from({ length: 12 }, (_, index) => `cart-${index}`);
const LANES_PER_CART = 2;
const ROUNDS_PER_FOLDER = 20;
/** How long a write to the log takes in every other round, so that a kill meets commands that are not stored yet. */
const SLOW_WRITE_MS = 2;
/** Fewer than there are carts, so that they leave memory and come back. */
const LIVE_ENTITIES_MAX = 5;

export interface CrashRoundsOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The shopping cart's module. */
  readonly module: string;
  /** An empty folder. */
  readonly scratch: string;
  /** More options of `svc run`. */
  readonly options?: readonly string[];
  readonly onRound?: (round: number, done: CrashRoundsDone) => void;
}

export interface CrashRoundsDone {
  answered: number;
  unanswered: number;
  /** Repeats with an idempotency key, of requests that had been answered. */
  repeated: number;
  kills: number;
}

/** Throws at the first violation; what it says names the round and the folder. */
export async function crashRounds(given: CrashRoundsOptions): Promise<CrashRoundsDone> {
  const done: CrashRoundsDone = { answered: 0, unanswered: 0, repeated: 0, kills: 0 };
  const random = new Random(given.seed);
  let folder: FolderUnderLoad | undefined;
  for (let round = 0; round < given.rounds; round++) {
    if (round % ROUNDS_PER_FOLDER === 0) {
      const data = join(given.scratch, `data-${round}`);
      mkdirSync(data);
      folder = new FolderUnderLoad(given, data, random, done);
    }
    try {
      await folder!.round();
    } catch (error) {
      const message = `round ${round} of seed ${given.seed}, folder ${folder!.data}`;
      throw new Error(`${message}: ${String(error)}`, { cause: error });
    }
    given.onRound?.(round, done);
  }
  await folder?.end();
  return done;
}

class FolderUnderLoad {
  readonly data: string;
  readonly #given: CrashRoundsOptions;
  readonly #random: Random;
  readonly #done: CrashRoundsDone;
  readonly #model = new CartModel();
  readonly #disk: FaultDisk | undefined;
  #lastNumber = 0;

  constructor(given: CrashRoundsOptions, data: string, random: Random, done: CrashRoundsDone) {
    this.#given = given;
    this.data = data;
    const beside = `${data}-beside`;
    mkdirSync(beside);
    this.#disk = faultDiskProblem() === undefined ? new FaultDisk(data, beside) : undefined;
    this.#random = random;
    this.#done = done;
  }

  /** Starts, checks what an earlier round left, makes load, and kills. */
  async round(): Promise<void> {
    const svc = this.#start();
    try {
      if (this.#random.chance(10)) {
        // While it starts.
        await pause(this.#random.below(700));
      } else {
        const url = await svc.listening();
        await this.#check(url);
        if (this.#random.chance(50))
          this.#disk?.control.fail({
            mode: 'slow',
            kind: 'write',
            suffix: '-wal',
            first: 1,
            last: Number.MAX_SAFE_INTEGER,
            delayMs: SLOW_WRITE_MS,
          });
        await this.#load(url, svc);
      }
    } finally {
      await svc.end('SIGKILL');
    }
    this.#disk?.control.heal();
    this.#done.kills++;
  }

  /** Looks at what the last round left. */
  async end(): Promise<void> {
    const svc = this.#start();
    try {
      await this.#check(await svc.listening());
    } finally {
      await svc.end('SIGKILL');
    }
  }

  #start(): SvcProcess {
    const { module, options = [] } = this.#given;
    const set = ['--set', `svc.engine.live-entities-max=${LIVE_ENTITIES_MAX}`];
    const place = ['--port', '0', '--data', this.data, '--log', 'json'];
    const env = this.#disk?.env ?? {};
    return new SvcProcess(['run', module, ...place, ...set, ...options], { env });
  }

  async #check(url: string): Promise<void> {
    for (const request of this.#model.toRepeat(() => this.#random.chance(5)))
      await this.#ask(url, request);
    const path = journalPath(this.data);
    checkNumbers(path);
    const reader = new JournalReader(path);
    try {
      for (const cart of CARTS) {
        const entity = { component: 'shopping-cart', id: cart };
        const items = this.#model.check(cart, reader.read(entity, 0, Number.MAX_SAFE_INTEGER));
        assert.deepEqual(await itemsOf(url, cart), items, `${cart} is not what its journal says`);
      }
    } finally {
      reader.close();
    }
  }

  /** Until enough was answered; whatever is under way then is killed. */
  async #load(url: string, svc: SvcProcess): Promise<void> {
    const enough = 1 + this.#random.below(200);
    const before = this.#model.answered;
    let ended = false;
    const lane = async (cart: string, number: number): Promise<void> => {
      while (!ended) {
        const request = this.#request(cart, number);
        const went = await this.#ask(url, request);
        if (!went) return;
        if (this.#random.chance(20)) await itemsOf(url, cart).catch(() => undefined);
        if (!ended && this.#model.answered - before >= enough) {
          ended = true;
          svc.child.kill('SIGKILL');
        }
      }
    };
    const lanes: Promise<void>[] = [];
    for (const cart of CARTS)
      for (let number = 0; number < LANES_PER_CART; number++) lanes.push(lane(cart, number));
    await Promise.all(lanes);
    assert(ended, `the service ended by itself:\n${svc.stderr}`);
  }

  #request(cart: string, lane: number): CartRequest {
    const number = ++this.#lastNumber;
    return {
      number,
      cart,
      lane,
      kind: this.#random.chance(8) ? 'remove' : 'add',
      key: this.#random.chance(60) ? `request-${number}` : undefined,
    };
  }

  /** False when the connection broke. Throws when the answer breaks a rule. */
  async #ask(url: string, request: CartRequest): Promise<boolean> {
    const model = this.#model;
    model.sent(request);
    let status: number;
    let text: string;
    try {
      const response = await fetch(
        `${url}/carts/${request.cart}${request.kind === 'add' ? '/items' : ''}`,
        {
          method: request.kind === 'add' ? 'POST' : 'DELETE',
          headers: {
            ...(request.kind === 'add' ? { 'content-type': 'application/json' } : {}),
            ...(request.key === undefined ? {} : { 'idempotency-key': request.key }),
          },
          body:
            request.kind === 'add' ? JSON.stringify({ sku: skuOf(request), quantity: 1 }) : null,
        },
      );
      ({ status } = response);
      text = await response.text();
    } catch {
      model.uncertain(request);
      this.#done.unanswered++;
      return false;
    }
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

async function itemsOf(url: string, cart: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/carts/${cart}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return itemsIn(text);
}

function itemsIn(text: string): readonly string[] {
  const { items } = JSON.parse(text) as { items: { sku: string; quantity: number }[] };
  for (const { sku, quantity } of items) assert.equal(quantity, 1, `${sku} was added twice`);
  return items.map(({ sku }) => sku);
}
