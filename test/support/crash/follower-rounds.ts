// FollowerRounds: the real process with timers, a view and a consumer, under load, killed at a random moment and started again
// on its folder. After each kill the journal is compared with what was answered. At the end of a folder the service is left
// alone until everything has followed, and then nothing is missing or double.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { JournalReader } from '../../../host/storage/sqlite/journal-reader.ts';
import { openTimerReader } from '../../../host/storage/sqlite/timer-reader.ts';
import { SvcProcess } from '../host-process.ts';
import { Random } from '../random.ts';
import { type OrderCounts, type StoredOrder, isDoomed, readOrder } from './followed-orders.ts';
import { checkNumbers } from './journal-model.ts';

export const ROUNDS_PER_FOLDER = 20;
const ORDERS = Array.from({ length: 8 }, (_, index) => `order-${index}`);
const CALLERS_PER_ORDER = 2;
const DELAY_MS_MAX = 600;
/** Time from the first answer to the kill, in milliseconds. */
const LOAD_MS_MAX = 1_500;
/** A service that has not followed, or does not listen, after this time breaks its promise. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 100;
const SHARDS = [1, 2];
const SETTINGS = ['svc.engine.live-entities-max=4', 'svc.engine.snapshot-interval-events=5'];

export interface FollowerRoundsOptions {
  readonly rounds: number;
  /** Seed of the first folder; the next one has the next. */
  readonly seed: number;
  readonly module: string;
  /** An empty folder. */
  readonly scratch: string;
  /** No round begins once it is aborted. */
  readonly signal?: AbortSignal;
  readonly onRound?: (done: FollowerRoundsDone) => void;
}

export interface FollowerRoundsDone {
  kills: number;
  /** Placements that were answered, and those whose connection broke. */
  answered: number;
  unanswered: number;
  /** In the folders at their end. */
  fired: number;
  ticks: number;
  dead: number;
  noted: number;
}

/** Throws at the first violation, with the folder, its seed, and the round in it. */
export async function followerRounds(options: FollowerRoundsOptions): Promise<FollowerRoundsDone> {
  const { rounds, seed, module, scratch } = options;
  const isStopped = (): boolean => options.signal?.aborted ?? false;
  const done = { kills: 0, answered: 0, unanswered: 0, fired: 0, ticks: 0, dead: 0, noted: 0 };
  for (let begun = 0; begun < rounds && !isStopped(); begun += ROUNDS_PER_FOLDER) {
    const folderSeed = seed + begun / ROUNDS_PER_FOLDER;
    const data = join(scratch, `followed-${folderSeed}`);
    mkdirSync(data);
    const folder = new FollowedFolder(module, data, new Random(folderSeed), done);
    let round = 0;
    try {
      for (; round < Math.min(ROUNDS_PER_FOLDER, rounds - begun); round++) {
        if (isStopped()) break;
        await folder.round(SHARDS[round % SHARDS.length]!);
        options.onRound?.(done);
      }
      await folder.end();
    } catch (error) {
      throw new Error(
        `round ${round + 1} of folder ${data} (--seed ${folderSeed}): ${String(error)}`,
        {
          cause: error,
        },
      );
    }
    rmSync(data, { recursive: true });
  }
  return done;
}

class FollowedFolder {
  readonly #module: string;
  readonly #data: string;
  readonly #random: Random;
  readonly #done: FollowerRoundsDone;
  readonly #answered = new Set<number>();
  #lastNumber = 0;

  constructor(module: string, data: string, random: Random, done: FollowerRoundsDone) {
    this.#module = module;
    this.#data = data;
    this.#random = random;
    this.#done = done;
  }

  /** Starts the service, loads it, kills it, and checks the journal. */
  async round(shards: number): Promise<void> {
    const svc = this.#start(shards);
    try {
      if (this.#random.chance(10)) await pause(this.#random.below(700));
      else await this.#load(await listening(svc), svc);
    } finally {
      await svc.end('SIGKILL');
    }
    this.#done.kills++;
    this.#check();
  }

  /** Leaves the service alone until everything has followed. */
  async end(): Promise<void> {
    const svc = this.#start(2);
    try {
      const url = await listening(svc);
      await this.#ticked(svc);
      for (const id of ORDERS) await post(`${url}/orders/${id}/quiet`, null);
      const orders = await this.#followed(svc);
      const rows = await rowsAt(url);
      for (const [id, { counts }] of orders)
        if (counts.placed > 0) assert.deepEqual(rows.get(id), counts, `${id} has another row`);
    } finally {
      await svc.end('SIGKILL');
    }
  }

  #start(shards: number): SvcProcess {
    const set = SETTINGS.flatMap((setting) => ['--set', setting]);
    const where = [
      '--port',
      '0',
      '--data',
      this.#data,
      '--log',
      'json',
      '--shards',
      String(shards),
    ];
    return new SvcProcess(['run', this.#module, ...where, ...set]);
  }

  async #load(url: string, svc: SvcProcess): Promise<void> {
    const untilMs = performance.now() + this.#random.below(LOAD_MS_MAX);
    const call = async (id: string, random: Random): Promise<void> => {
      for (;;) {
        const number = ++this.#lastNumber;
        const delayMs = random.below(DELAY_MS_MAX);
        try {
          await post(`${url}/orders/${id}`, { number, delayMs, isDoomed: isDoomed(number) });
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          this.#done.unanswered++;
          return;
        }
        this.#answered.add(number);
        this.#done.answered++;
        await pause(random.below(20));
      }
    };
    const calls = ORDERS.flatMap((id) =>
      Array.from({ length: CALLERS_PER_ORDER }, () =>
        call(id, new Random(this.#random.below(2 ** 31))),
      ),
    );
    await Promise.race([pause(Math.max(0, untilMs - performance.now())), ...calls]);
    assert.equal(svc.child.exitCode, null, `the service ended by itself:\n${svc.stderr}`);
    svc.child.kill('SIGKILL');
    await Promise.all(calls);
  }

  /** Returns what the journal holds. Throws if it breaks a rule. */
  #check(): ReadonlyMap<string, StoredOrder> {
    const path = journalPath(this.#data);
    if (!existsSync(path)) {
      assert.equal(this.#answered.size, 0, 'the journal is gone');
      return new Map();
    }
    checkNumbers(path);
    const reader = new JournalReader(path);
    try {
      const orders = new Map(ORDERS.map((id) => [id, readOrder(reader, id)]));
      const stored = new Set([...orders.values()].flatMap(({ placed }) => [...placed]));
      for (const number of this.#answered)
        assert(stored.has(number), `placement ${number} was answered, and is not stored`);
      return orders;
    } finally {
      reader.close();
    }
  }

  /** Waits until every order has ticked whose timer was set: on a fast machine the rounds take less than a period. */
  async #ticked(svc: SvcProcess): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    while ([...this.#check().values()].some(waitsForTick)) {
      assert(performance.now() < untilMs, `an order has not ticked:\n${svc.stderr}`);
      await pause(LOOK_MS);
    }
  }

  async #followed(svc: SvcProcess): Promise<ReadonlyMap<string, StoredOrder>> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const orders = this.#check();
      const all = [...orders.values()];
      const { pending, dead } = this.#timers();
      const open = all.reduce((sum, order) => sum + order.open.size, 0);
      const unnoted = all.reduce((sum, order) => sum + order.unnoted, 0);
      if (pending === 0 && open === 0 && unnoted === 0) {
        const doomed = all.flatMap(({ placed }) => [...placed]).filter(isDoomed).length;
        assert.equal(dead, doomed, 'timers that always fail are dead, and no others');
        for (const { counts } of all) {
          this.#done.fired += counts.expired;
          this.#done.ticks += counts.ticks;
          this.#done.noted += counts.placed + counts.expired + counts.ticks;
        }
        this.#done.dead += dead;
        return orders;
      }
      assert(
        performance.now() < untilMs,
        `after ${PATIENCE_MS} ms ${pending} timers are pending, ${open} deadlines open, ${unnoted} events not noted:\n${svc.stderr}`,
      );
      await pause(LOOK_MS);
    }
  }

  #timers(): { readonly pending: number; readonly dead: number } {
    const reader = openTimerReader(journalPath(this.#data));
    try {
      return reader.counts();
    } finally {
      reader.close();
    }
  }
}

function waitsForTick({ counts }: StoredOrder): boolean {
  return counts.placed > 0 && counts.ticks === 0;
}

async function listening(svc: SvcProcess): Promise<string> {
  const watch = setTimeout(() => svc.child.kill('SIGKILL'), PATIENCE_MS);
  try {
    return await svc.listening();
  } finally {
    clearTimeout(watch);
  }
}

/** Rejects when the connection breaks, and with an AssertionError for any answer but a success. */
async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const sent = body === null ? {} : { body: JSON.stringify(body), headers };
  const response = await fetch(url, { method: 'POST', ...sent });
  const text = await response.text();
  assert.equal(response.status, 204, text);
}

async function rowsAt(url: string): Promise<ReadonlyMap<string, OrderCounts>> {
  const response = await fetch(`${url}/orders/rows`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { rows } = JSON.parse(text) as { rows: ({ id: string } & OrderCounts)[] };
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
