// All streams of a runtime meet the same run of a process.
import { expect, onTestFinished, test } from 'vitest';
import { startProcessGuest } from '../../../../host/hosting/process/process-guest.ts';
import { newProcessRun, ProcessRun, runOf } from '../../../../host/hosting/process/process-run.ts';
import { readProcess } from '../../../../host/hosting/process/process-source.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import type { Guest } from '../../../../model/guest.ts';
import { connectionTo } from '../../../process-sdk/typescript/support/served-guest.ts';
import { greeting, scriptedProcess, welcome } from './support/scripted-process.ts';

const context = { nowMs: 1_700_000_000_000, seed: 7n, metadata: [] };

test('the first stream decides which run is met, until it is lost', () => {
  const shared = newProcessRun();
  const [first, second] = [new ProcessRun(shared), new ProcessRun(shared)];
  const [one, two] = [runOf('one'), runOf('two')];
  expect(one).not.toBe(two);
  expect([first.isMet(one), second.isMet(one), second.isMet(two)]).toEqual([true, true, false]);
  second.lost(two);
  expect(second.isMet(two)).toBe(false);
  first.lost(one);
  expect([second.isMet(two), first.isMet(one)]).toEqual([true, false]);
});

/** Answers each query with the name of the run that its stream has met. */
async function guests(runs: readonly string[]) {
  const served = await scriptedProcess((frame, call, stream) => {
    const instance = runs[stream.index] ?? runs.at(-1)!;
    if (frame.$case === 'hello') stream.answer(0, welcome({ instance }));
    else if (frame.$case === 'command') stream.end();
    else if (frame.$case === 'query')
      stream.answer(call, { $case: 'reply', value: { json: JSON.stringify(instance) } });
    else greeting(() => {})(frame, call, stream);
  });
  const source = await readProcess(connectionTo(served.address, { reconnectMaxMs: 50 }));
  const started = async (shard: number): Promise<Guest> => {
    const guest = await startProcessGuest(source, { shard, shards: 2 }, () => {});
    onTestFinished(async () => guest.close());
    return guest;
  };
  return [await started(0), await started(1)] as const;
}

async function metBy(guest: Guest): Promise<string> {
  try {
    const entity = await guest.entities.open({ component: 'counter', id: 'c1' }, undefined);
    const answer = await entity.query(context, 'get', 'null');
    return answer.kind === 'reply' ? answer.json : answer.message;
  } catch (error) {
    if (error instanceof SvcError) return error.message;
    throw error;
  }
}

test('a stream that meets another run is not used while the first run is there', async () => {
  // The first stream only reads what the process holds.
  const [first, second] = await guests(['zero', 'one', 'two']);
  expect(await metBy(first)).toBe('"one"');
  expect(await metBy(second)).toContain('is another run of it than the one');
  const entity = await first.entities.open({ component: 'counter', id: 'c1' }, undefined);
  await expect(Promise.resolve(entity.command(context, 'add', 'null'))).rejects.toThrow(SvcError);
  // The first run is gone: both meet the second one.
  await expect.poll(() => metBy(first)).toBe('"two"');
  await expect.poll(() => metBy(second)).toBe('"two"');
});

test('a stream to a run that others have left is left as well', async () => {
  const [first, second] = await guests(['zero', 'one', 'one', 'two']);
  expect([await metBy(first), await metBy(second)]).toEqual(['"one"', '"one"']);
  const entity = await first.entities.open({ component: 'counter', id: 'c1' }, undefined);
  await expect(Promise.resolve(entity.command(context, 'add', 'null'))).rejects.toThrow(SvcError);
  await expect.poll(() => metBy(first)).toBe('"two"');
  await expect.poll(() => metBy(second)).toBe('"two"');
});
