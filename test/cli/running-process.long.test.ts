// More of the tools that read a journal with the code of a service, where the code is in a process that runs.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillTallies, servedTally, svc } from '../support/tally-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const temporary = temporaryFolderOfFile();
const data = join(temporary, 'data');

beforeAll(async () => fillTallies(data));

describe('with the code of a process', () => {
  test('svc verify names a fold that depends on a variable, and makes up events where there is no journal', async () => {
    const [pure, impure] = [await servedTally(), await servedTally({ apply: counting() })];
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

describe('a process that cannot be used', () => {
  test.each([
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
