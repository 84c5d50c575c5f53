// CrashedDays: simulates a crash at every commit of the journal during the scripted day, and at some of the other operations of
// the disk. A control plane that is started on what a crash has left has everything that was answered, does the request that was
// cut off exactly once when it is repeated, and has no name claimed by what does not exist 30 s later.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, vi } from 'vitest';
import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { SETTLE_AFTER_MS } from '../../../control-plane/model/claims.ts';
import { CrashImages, type CrashImage } from '../../support/crash/crash-images.ts';
import { readTrace, type DiskOperation } from '../../support/crash/disk-trace.ts';
import { FaultDisk } from '../../support/crash/fault-disk.ts';
import { Random } from '../../support/random.ts';
import { startForHistories } from '../model-suite/control-plane-for-histories.ts';
import { expectRunSettled } from '../model-suite/expect-run-settled.ts';
import { Explanation, type Observed } from '../model-suite/explanation.ts';
import { HttpDriver } from '../model-suite/http-driver.ts';
import { EMPTY } from '../model-suite/reference.ts';
import { READS, type Request } from '../model-suite/requests.ts';
import type { AnsweredRequest } from './day-program.ts';
import { expectSuspended } from './expect-suspended.ts';
import { DAY, RUN, keyOf } from './scripted-day.ts';

const PROGRAM = join(import.meta.dirname, 'day-program.ts');
const LOOK = { interval: 5 };
/** Each violation takes the time that is waited for what should follow. */
const VIOLATIONS_MAX = 3;

export interface CrashedDaysOptions {
  readonly scratch: string;
  readonly seed: number;
  /** One of so many operations that are no commit is looked after, too. */
  readonly oneOf: number;
}

export interface Crashes {
  /** Requests and answers of the day, during which nothing crashed. */
  readonly day: readonly Observed[];
  /** Number of requests that were answered before each crash. */
  readonly answered: readonly number[];
  /** The first broken promises, each with the crash after which it was found. */
  readonly violations: readonly string[];
}

/** The clock of this process stands still: the caller has replaced it. */
export async function crashedDays({ scratch, seed, oneOf }: CrashedDaysOptions): Promise<Crashes> {
  const operations = await tracedDay(scratch);
  const marks = operations.flatMap((operation) =>
    operation.kind === 'mark' ? [JSON.parse(operation.text) as AnsweredRequest] : [],
  );
  const random = new Random(seed);
  const answered: number[] = [];
  const violations: string[] = [];
  let passed = 0;
  let count = 0;
  const isChosen = (after: number) => isCommit(operations[after - 1]) || random.below(oneOf) === 0;
  for (const image of new CrashImages(operations, new Map(), random).of(isChosen)) {
    for (; passed < image.after; passed++) if (operations[passed]!.kind === 'mark') count++;
    if (violations.length === VIOLATIONS_MAX) break;
    answered.push(count);
    const crash: Crash = { marks, answered: count, repeatsAtOnce: random.chance(50) };
    try {
      await recovered(image, crash, scratch);
    } catch (error) {
      const when = crash.repeatsAtOnce ? 'repeated at once' : 'repeated later';
      violations.push(
        `${image.kind} after operation ${image.after}, request ${count} ${when}: ${String(error)}`,
      );
    }
  }
  return { day: observed(marks), answered, violations };
}

function isCommit(operation: DiskOperation | undefined): boolean {
  return operation?.kind === 'sync' && operation.name === 'journal.sqlite-wal';
}

async function tracedDay(scratch: string): Promise<readonly DiskOperation[]> {
  const dir = join(scratch, 'data');
  mkdirSync(dir);
  const disk = new FaultDisk(dir, scratch, { traced: true });
  const child = spawn(process.execPath, [PROGRAM, dir], {
    env: { ...process.env, ...disk.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  return readTrace(disk.tracePath);
}

interface Crash {
  readonly marks: readonly AnsweredRequest[];
  /** Number of requests that were answered before it. */
  readonly answered: number;
  /** Whether the request that was cut off is repeated at once, or after what it left is settled. */
  readonly repeatsAtOnce: boolean;
}

/** Starts a control plane on what a crash has left, and rejects if that breaks a promise. */
async function recovered(image: CrashImage, crash: Crash, scratch: string): Promise<void> {
  const dir = mkdtempSync(join(scratch, 'crash-'));
  for (const [name, bytes] of image.files) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), bytes);
  }
  // Every claim was made before this time.
  const { atMs } = crash.marks[crash.answered] ?? crash.marks.at(-1)!;
  vi.setSystemTime(atMs);
  const control = await startForHistories(dir);
  try {
    await expectKept(control, crash, atMs);
  } finally {
    await control.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function expectKept(control: ControlPlane, crash: Crash, atMs: number): Promise<void> {
  const call: Call = (entity, id) => control.service.call(entity, id);
  const driver = new HttpDriver(
    () => control.url,
    (run) => expectRunSettled(call, run),
  );
  const observe = async (request: Request, idempotencyKey: string): Promise<Observed> => ({
    request,
    answer: await driver.send({ request, run: RUN, idempotencyKey }),
  });
  const { answered } = crash;
  const repeat = async () => {
    const request = DAY[answered];
    return request === undefined ? undefined : await observe(request, keyOf(answered));
  };
  const atOnce = crash.repeatsAtOnce ? await repeat() : undefined;
  vi.setSystemTime(atMs + SETTLE_AFTER_MS);
  await expect.poll(() => driver.expectSettled(RUN), LOOK).toBeUndefined();
  const repeated = atOnce ?? (await repeat());
  await expect.poll(() => driver.expectSettled(RUN), LOOK).toBeUndefined();
  await expect.poll(() => expectSuspended(call, RUN), LOOK).toBeUndefined();
  const reads = await Promise.all(READS.map((read, n) => observe(read, `${RUN}-read-${n}`)));
  explain(observed(crash.marks), answered, repeated, reads);
}

function observed(marks: readonly AnsweredRequest[]): Observed[] {
  return marks.map(({ answer }, index) => ({ request: DAY[index]!, answer }));
}

/** Fails unless everything was done once that was answered, and so was the request that was repeated. */
function explain(
  day: readonly Observed[],
  answered: number,
  repeated: Observed | undefined,
  reads: readonly Observed[],
): void {
  const before = day.slice(0, answered);
  if (repeated === undefined) return explainInOrder(before, undefined, reads);
  try {
    // The crash came after it was done.
    explainInOrder([...before, day[answered]!], repeated, reads);
  } catch {
    explainInOrder([...before, repeated], undefined, reads);
  }
}

function explainInOrder(
  first: readonly Observed[],
  repeated: Observed | undefined,
  reads: readonly Observed[],
): void {
  const explanation = new Explanation(EMPTY);
  const add = (one: Observed) => explanation.add({ observed: [one], isUnsettled: false });
  for (const one of first) add(one);
  if (repeated !== undefined) explanation.addRepeated(repeated);
  for (const one of reads) add(one);
}
