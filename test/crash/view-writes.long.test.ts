// A crash at operations of the disk while views are built and followed: they continue, and have the right rows. SVC_TEST_WRITES=all crashes at all
// of them, otherwise at one in four, and SVC_TEST_SEED draws others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { CrashImages, type ImageKind } from '../support/crash/crash-images.ts';
import { readTrace } from '../support/crash/disk-trace.ts';
import { FaultDisk, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { ViewModel } from '../support/crash/view-model.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const WORKLOAD = join(import.meta.dirname, '../support/crash/view-workload.ts');
const { SVC_TEST_WRITES: writes, SVC_TEST_SEED: seed = '5' } = process.env;
const SEED = Number(seed);
const ONE_OF = writes === 'all' ? 1 : 4;

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

test('a crash at any write, sync, rename or removal leaves views that continue with the right rows', async () => {
  const scratch = temporaryFolder();
  const dir = join(scratch, 'data');
  mkdirSync(join(dir, 'views'), { recursive: true });
  const disk = new FaultDisk(join(dir, 'views'), scratch, { traced: true });
  const workload = spawn(process.execPath, [WORKLOAD, dir, String(SEED)], {
    env: { ...process.env, ...disk.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(workload, 'close')).toEqual([0, null]);

  const model = await ViewModel.make(SEED);
  const random = new Random(SEED);
  const images: Record<ImageKind, number> = { written: 0, synced: 0, some: 0, torn: 0 };
  const violations: string[] = [];
  const folder = mkdtempSync(join(scratch, 'crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const all = new CrashImages(readTrace(disk.tracePath), new Map(), random);
  for (const { kind, after, files } of all.of(() => random.below(ONE_OF) === 0)) {
    images[kind]++;
    const views = join(folder, 'views');
    rmSync(views, { recursive: true, force: true });
    mkdirSync(views);
    for (const [name, bytes] of files) writeFileSync(join(views, name), bytes);
    try {
      await model.check(folder);
    } catch (error) {
      const names = readdirSync(views).join();
      violations.push(`${kind} after operation ${after}: ${String(error)} (${names})`);
    }
  }
  expect(violations).toEqual([]);
  for (const count of Object.values(images)) expect(count).toBeGreaterThan(5);
  // A crash damages no file: each is continued where it was.
  expect(model.damaged).toBe(0);
}, 400_000);
