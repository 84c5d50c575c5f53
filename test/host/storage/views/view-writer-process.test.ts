// The writer of a view's file in a process of its own, which is killed, and whose disk is full.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { VIEW_LIMITS_DEFAULT } from '../../../../model/view-limits.ts';
import { FileViews } from '../../../../host/storage/views/file-views.ts';
import {
  ALL_KEYS,
  failureOf,
  finish,
  keysOf,
  planned,
} from '../../../suites/view-store/views-under-test.ts';
import { FaultDisk, faultDiskProblem } from '../../../support/crash/fault-disk.ts';
import { Random } from '../../../support/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { WRITTEN_VIEW, rowsAt } from '../../../support/view-writer-program.ts';
import { within } from '../../../support/within.ts';

const PROGRAM = join(import.meta.dirname, '../../../support/view-writer-program.ts');
const viewsIn = (dir: string) => new FileViews(dir, VIEW_LIMITS_DEFAULT);

class WriterProcess {
  readonly #process: ChildProcessByStdio<null, Readable, null>;
  readonly #lines: string[] = [];
  #onLine = () => {};

  constructor(dir: string, env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(process.execPath, [PROGRAM, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.#lines.push(line);
      this.#onLine();
    });
    onTestFinished(() => void this.#process.kill('SIGKILL'));
  }

  /** Waits for a line after the first `from` ones that fits; returns how many lines there are then. */
  async line(fits: RegExp, from = 0): Promise<number> {
    const found = () => this.#lines.slice(from).some((line) => fits.test(line));
    const shown = () => `${fits} of the writer, which said ${this.#lines.slice(-5).join()}`;
    await within(
      60,
      shown,
      new Promise<void>((resolve) => {
        this.#onLine = () => {
          if (found()) resolve();
        };
        this.#onLine();
      }),
    );
    return this.#lines.length;
  }

  /** Waits for so many more positions. */
  async positions(count: number): Promise<void> {
    let seen = this.#lines.length;
    for (let step = 0; step < count; step++) seen = await this.line(/^\d+$/, seen);
  }

  /** Kills it; returns the last position that it has reported. */
  async kill(): Promise<number> {
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    return Number(this.#lines.findLast((line) => /^\d+$/.test(line)) ?? 0);
  }
}

/** Rows, indexes and position of the folder's file agree; returns the position. */
async function checkedPosition(dir: string): Promise<number> {
  const writer = viewsIn(dir).openWriter(WRITTEN_VIEW);
  expect(writer.discarded).toBeUndefined();
  const position = Number(writer.foldedTo?.position ?? 0);
  const rows = position === 0 ? new Map<string, string>() : rowsAt(position);
  expect(writer.rowCount).toBe(rows.size);
  await finish(writer);
  writer.close();
  const reader = viewsIn(dir).reader(WRITTEN_VIEW);
  for (const query of [ALL_KEYS, planned({}), planned({ index: 1 })])
    expect((await keysOf(reader, query, 100)).toSorted()).toEqual([...rows.keys()].toSorted());
  for (const [key, json] of rows) expect(await reader.get(key)).toEqual({ key, json });
  reader.close();
  return position;
}

describe('the writer of a view', () => {
  test('that is killed leaves rows, indexes and position that agree', async () => {
    const dir = temporaryFolder();
    const random = new Random(7);
    let last = 0;
    for (let round = 0; round < 5; round++) {
      const writer = new WriterProcess(dir);
      await writer.line(new RegExp(`^begins at ${last}$`));
      await writer.positions(1 + random.below(40));
      expect(await failureOf(() => viewsIn(dir).openWriter(WRITTEN_VIEW))).toMatchObject({
        code: 'SVC_VIEW_IN_USE',
      });
      const reported = await writer.kill();
      last = await checkedPosition(dir);
      // A put that was not reported yet may be stored.
      expect([reported, reported + 1]).toContain(last);
    }
  });

  const problem = faultDiskProblem();
  test.skipIf(problem !== undefined)(
    `whose disk is full stores nothing, and goes on once there is room${problem === undefined ? '' : ` (left out: ${problem})`}`,
    async () => {
      const beside = temporaryFolder();
      const dir = join(beside, 'data');
      mkdirSync(dir);
      const disk = new FaultDisk(dir, beside);
      const writer = new WriterProcess(dir, disk.env);
      await writer.positions(20);
      disk.control.fail({
        mode: 'ENOSPC',
        kind: 'write',
        suffix: '-wal',
        first: 1,
        last: 1_000_000,
      });
      const full = await writer.line(/^SVC_DISK_FULL$/);
      disk.control.heal();
      await writer.line(/^\d+$/, full);
      await writer.positions(20);
      const reported = await writer.kill();
      expect([reported, reported + 1]).toContain(await checkedPosition(dir));
    },
  );
});
