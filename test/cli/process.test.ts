// The tools that read a journal with the code of a service, where the code is in a process that runs. process.long.test.ts has
// processes that the tools start.
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

  test('svc verify judges folds and views, and names one that depends on a variable', async () => {
    const [pure, impure] = [await servedTally(), await servedTally({ apply: counting() })];
    expect(await svc('verify', '--process', pure.address, '--data', data)).toMatchObject({
      code: 0,
      stdout: '2 entities, 3 events, 1 view: every fold depends on the events alone\n',
    });
    const found = await svc('verify', '--process', impure.address, '--data', data, '-o', 'json');
    expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining('SVC_FOLD_IMPURE') });
    expect(JSON.parse(found.stdout)).toMatchObject({
      process: impure.address,
      findings: expect.arrayContaining([
        expect.objectContaining({ way: 'fresh-instance', component: 'tally', path: 'total' }),
      ]),
    });
    const madeUp = await svc('verify', '--process', pure.address);
    expect(madeUp).toMatchObject({ code: 0, stdout: expect.stringContaining('made-up event') });
  });

  test('svc upgrade-check compares the states of two processes', async () => {
    const before = await servedTally();
    const now = await servedTally({
      apply: (state, { amount }) => ({ total: state.total + 2 * amount }),
      version: '2',
    });
    const sides = ['--process', now.address, '--from-process', before.address];
    const words = ['upgrade-check', ...sides, '--data', data, '-o', 'json'];
    const { code, stdout, stderr } = await svc(...words);
    expect(code).toBe(1);
    expect(stderr).toContain(`${now.address} cannot take over`);
    expect(JSON.parse(stdout)).toMatchObject({
      process: now.address,
      from: before.address,
      compared: 'process',
      findings: [{ name: 'state-differs', component: 'tally', entities: 2 }],
    });
  });

  test('svc inspect, configuration check and views prepare ask it for what it declares', async () => {
    const { address } = await servedTally();
    const inspected = await svc('inspect', '--process', address, '-o', 'json');
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      process: address,
      descriptor: { entities: [{ component: 'tally' }], views: [{ id: 'totals' }] },
      viewDefinitions: { totals: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(await svc('configuration', 'check', '--process', address)).toMatchObject({
      code: 0,
      stdout: 'The process has no configuration.\n',
    });
    const prepared = join(temporary, 'prepared');
    await fillTallies(prepared);
    expect(await svc('views', 'prepare', '--process', address, '--data', prepared)).toMatchObject({
      code: 0,
      stdout: 'totals: built, 2 rows\n',
    });
  });
});

const temporary = temporaryFolderOfFile();

describe('a process that cannot be used', () => {
  test.each([
    [['--process', '127.0.0.1:1'], 1, /process at 127\.0\.0\.1:1 does not listen .*UNAVAILABLE\]/],
    [['--process', '10.0.0.1:9010'], 2, /an address of this machine, .*'10\.0\.0\.1:9010'/],
    [['--process', 'x', '--program', 'a.ts'], 2, /found both: a\.ts and x/],
    [['--process-command', ' '], 2, /the command found is ' '/],
  ] as const)('%j ends svc verify with %i', async (given, code, message) => {
    const ended = await svc('verify', ...given, '--data', data);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  test.each(['entity', 'verify', 'upgrade-check'])(
    'one that goes away ends svc %s at once',
    async (name) => {
      const leaving = Promise.withResolvers<void>();
      const served = await servedTally({
        apply(state) {
          leaving.resolve();
          return state;
        },
      });
      void leaving.promise.then(() => served.close());
      const words = name === 'entity' ? [data, 'tally', 'a'] : ['--data', data];
      const ended = await svc(name, ...words, '--process', served.address);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toContain('[SVC_PROCESS_UNAVAILABLE]');
    },
  );
});

function counting() {
  let folds = 0;
  return (state: { readonly total: number }) => ({ total: state.total + (folds += 1) });
}
