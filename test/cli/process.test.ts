// The tools that read a journal with the code of a service, where the code is in a process that runs. running-process.long.test.ts has
// more of them, and process.long.test.ts processes that the tools start.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillTallies, servedTally, svc } from '../support/tally-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const data = join(temporaryFolderOfFile(), 'data');

beforeAll(async () => fillTallies(data));

describe('with the code of a process', () => {
  test('svc entity folds the history, and says what a command would do', async () => {
    const { address } = await servedTally();
    const asked = ['--what-if', 'add', '--input', '{"amount":4}', '--steps', '-o', 'json'];
    const words = ['entity', data, 'tally', 'a', '--process', address, ...asked];
    const { code, stdout } = await svc(...words);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      seq: 2,
      state: { total: 3 },
      steps: [{ changes: [{ path: 'total', before: 0, after: 1 }] }, { seq: 2 }],
      whatIf: { kind: 'effect', reply: { total: 7 } },
    });
  });

  test('svc entity names the event and the line of the process at which apply throws', async () => {
    const { address } = await servedTally({
      apply(state, { amount }) {
        if (amount > 1) throw new Error('it is too much');
        return { total: state.total + amount };
      },
    });
    const { code, stdout, stderr } = await svc(
      'entity',
      data,
      'tally',
      'a',
      '--process',
      `localhost:${address.split(':')[1]}`,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^svc: The fold faulted: .*apply of component 'tally' threw an error \(Error: it is too much at test\/cli\/process\.test\.ts:\d+:\d+\)\. .*\[SVC_FOLD_FAULTED\]\n$/,
    );
  });

  test('svc entity names what the process does not have, and ends', async () => {
    const { address } = await servedTally();
    expect(await svc('entity', data, 'tallly', 'a', '--process', address)).toMatchObject({
      code: 1,
      stderr:
        "svc: The process has no component 'tallly'. Did you mean 'tally'? It has tally. [SVC_NOT_IN_MODULE]\n",
    });
  });

  test('svc verify judges folds and views', async () => {
    const { address } = await servedTally();
    expect(await svc('verify', '--process', address, '--data', data)).toMatchObject({
      code: 0,
      stdout: '2 entities, 3 events, 1 view: every fold depends on the events alone\n',
    });
  });

  test('svc verify ends where no process listens', async () => {
    const ended = await svc('verify', '--process', '127.0.0.1:1', '--data', data);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/process at 127\.0\.0\.1:1 does not listen .*UNAVAILABLE\]/);
  });
});
