// CrashRounds: the real process under load, killed at a random moment, started again on its folder, and compared
// with the model. A few rounds share a folder. What a folder's rounds do follows from the folder's seed alone, as far
// as the moments of a process under load can.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FolderUnderLoad } from './folder-under-load.ts';
import type { SnapshotFiles } from './snapshot-files.ts';

export const ROUNDS_PER_FOLDER = 20;
/** In turn. An entity finds its shard by their number, so it moves from round to round. */
const SHARDS = [1, 2];

export interface CrashRoundsOptions {
  readonly rounds: number;
  /** Of the first folder; the next one has the next. */
  readonly seed: number;
  /** The shopping cart's module. */
  readonly module: string;
  /** An empty folder. */
  readonly scratch: string;
  /** How many shards a round has, in turn. */
  readonly shards?: readonly number[];
  /** No round begins once it is aborted. */
  readonly signal?: AbortSignal;
  readonly onRound?: (done: CrashRoundsDone) => void;
}

export interface CrashRoundsDone {
  answered: number;
  unanswered: number;
  /** Repeats with an idempotency key, of requests that had been answered. */
  repeated: number;
  kills: number;
  /** Kept states that were found in the folders at their end. */
  snapshots: number;
}

/** Throws at the first violation; what it says names the folder, its seed, and the round in it. */
export async function crashRounds(given: CrashRoundsOptions): Promise<CrashRoundsDone> {
  const { rounds, seed, module, scratch, shards = SHARDS } = given;
  const isStopped = (): boolean => given.signal?.aborted ?? false;
  const done: CrashRoundsDone = { answered: 0, unanswered: 0, repeated: 0, kills: 0, snapshots: 0 };
  /** Of the folder before. */
  let foreign: SnapshotFiles | undefined;
  for (let begun = 0; begun < rounds && !isStopped(); begun += ROUNDS_PER_FOLDER) {
    const folderSeed = seed + begun / ROUNDS_PER_FOLDER;
    const data = join(scratch, `data-${folderSeed}`);
    mkdirSync(data);
    const folder = new FolderUnderLoad({ module, data, seed: folderSeed, foreign, done });
    let round = 0;
    try {
      for (; round < Math.min(ROUNDS_PER_FOLDER, rounds - begun); round++) {
        if (isStopped()) break;
        await folder.round(shards[round % shards.length]!);
        given.onRound?.(done);
      }
      await folder.end();
    } catch (error) {
      const again = `--seed ${folderSeed} --rounds ${Math.min(round + 1, ROUNDS_PER_FOLDER)}`;
      throw new Error(`round ${round + 1} of folder ${data} (${again}): ${String(error)}`, {
        cause: error,
      });
    }
    foreign = folder.snapshots;
    rmSync(data, { recursive: true });
  }
  return done;
}
