// A crash at every operation of the disk: the journal is opened as each of them may have left the folder.
import { beforeEach, describe, expect, test } from 'vitest';
import { PAST_FORMATS, enumerateCrashes } from '../support/crash/crash-enumeration.ts';
import { type Fault, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

describe('a crash', () => {
  test('at any write, sync, rename or removal leaves a journal that keeps what it promises', async () => {
    const done = await enumerateCrashes({ waves: 12, seed: 1 }, temporaryFolder());
    expect(done.violations).toEqual([]);
    expect(done.stored).toBeGreaterThan(40);
    expect([...done.timerChanges].toSorted()).toEqual(
      ['cancel', 'dead', 'none', 'rearm', 'remove', 'retry', 'set', 'set-recurring'].toSorted(),
    );
    for (const count of Object.values(done.images)) expect(count).toBeGreaterThan(40);
  });

  test.each(PAST_FORMATS)(
    'in the midst of the migration from format %i loses nothing',
    async (format) => {
      const workload = { waves: 2, seed: format, format };
      const done = await enumerateCrashes(workload, temporaryFolder());
      expect(done.violations).toEqual([]);
      expect(done.images.some).toBeGreaterThan(40);
    },
  );

  test('after writes and syncs that failed finds all that was acknowledged, and nothing that was refused', async () => {
    const workload = { waves: 40, seed: 2, faults: true };
    const done = await enumerateCrashes(workload, temporaryFolder(), 6);
    expect(done.violations).toEqual([]);
    expect(done.stored).toBeGreaterThan(50);
    expect(done.failedSyncs).toBeGreaterThan(3);
    expect([...done.refusals.keys()].toSorted()).toEqual([
      'SVC_DISK_FULL',
      'SVC_JOURNAL_UNAVAILABLE',
    ]);
  });

  test('after the host was killed and started again loses nothing that either has said', async () => {
    const stops: readonly Fault[] = [
      // What was written then, and not synced, is what the next one reads.
      { mode: 'stop', kind: 'sync', suffix: '-wal', first: 2 },
      { mode: 'stop', kind: 'sync', suffix: '-wal', first: 1 },
      { mode: 'stop', kind: 'write', suffix: '-wal', first: 12 },
      { mode: 'tear', kind: 'write', suffix: '-wal', first: 23 },
      { mode: 'tear', kind: 'write', suffix: 'journal.sqlite', first: 2 },
    ];
    const done = await enumerateCrashes({ waves: 10, seed: 3, stops }, temporaryFolder(), 3);
    expect(done.violations).toEqual([]);
    expect(done.stored).toBeGreaterThan(30);
  });

  test.each<Fault>([
    { mode: 'stop', kind: 'rename', first: 1 },
    { mode: 'stop', kind: 'sync', first: 2 },
    { mode: 'tear', kind: 'write', suffix: 'journal.sqlite.new', first: 5 },
  ])('while a journal is made leaves none or a whole one: %o', async (stop) => {
    const done = await enumerateCrashes({ waves: 1, seed: 1, stops: [stop] }, temporaryFolder());
    expect(done.violations).toEqual([]);
  });
});
