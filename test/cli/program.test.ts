// svc entity, svc verify and svc upgrade-check with a program, on the journal that its service has written: what they print,
// and what makes no sense. program.long.test.ts has the rest.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { APPLIED, FLAG, FlagsJournal, PROGRAM } from '../support/flags-journal.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const flags = new FlagsJournal(temporaryFolderOfFile());
const { svc } = flags;

let whileRunning = '';

beforeAll(async () => {
  await flags.fill(async () => {
    whileRunning = (await svc('entity', ...FLAG, ...PROGRAM, '-o', 'json')).stdout;
  });
});

const check = async (program: string, ...more: readonly string[]) =>
  svc('upgrade-check', '--program', program, '--data', 'data', ...more);

describe('svc entity with a program', () => {
  test('sees what a running service has answered', () => {
    expect(JSON.parse(whileRunning)).toMatchObject({ seq: 2, state: { percentage: 20 } });
  });

  test('shows the state at a time in the past, and how it came about', async () => {
    const at = new Date(flags.answeredMs[1]!).toISOString();
    const past = await svc('entity', ...FLAG, ...PROGRAM, '--at', at, '--steps', '-o', 'json');
    expect(past).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(past.stdout)).toMatchObject({
      seq: 2,
      state: { percentage: 20, reason: 'now 20' },
      steps: [
        { seq: 1, changes: [{ path: 'percentage', before: 0, after: 10 }, { path: 'reason' }] },
        { seq: 2, changes: [{ path: 'percentage', before: 10, after: 20 }, { path: 'reason' }] },
      ],
    });
  });

  test('says what a command would do, and what it would refuse', async () => {
    const asked = ['--what-if', 'change', '--input', '{"percentage":90,"reason":"all"}'];
    const effect = await svc('entity', ...FLAG, ...PROGRAM, ...asked, '-o', 'json');
    expect(JSON.parse(effect.stdout)).toMatchObject({
      whatIf: { kind: 'effect', reply: { percentage: 90, reason: 'all' } },
    });
    const refused = await svc('entity', ...FLAG, ...PROGRAM, ...asked, '--at', '0');
    expect(refused.stdout).toContain('a new feature begins with at most 50 percent');
  });

  test('names what the program does not have', async () => {
    const { stderr } = await svc('entity', 'data', 'flags', 'search', ...PROGRAM);
    expect(stderr).toBe(
      "svc: The program has no component 'flags'. Did you mean 'flag'? It has flag. [SVC_NOT_IN_MODULE]\n",
    );
  });
});

describe('svc verify with a program', () => {
  test('is content with a fold that depends on the events alone', async () => {
    expect(await svc('verify', ...PROGRAM, '--data', 'data')).toMatchObject({
      code: 0,
      stdout: '2 entities, 4 events: every fold depends on the events alone\n',
      stderr: '',
    });
    const madeUp = await svc('verify', ...PROGRAM, '-o', 'json');
    expect(JSON.parse(madeUp.stdout)).toMatchObject({ program: PROGRAM[1], findings: [] });
  });

  test('finds a fold that depends on a variable of the program, with event and place', async () => {
    const impure = flags.changed(
      'impure',
      APPLIED,
      'folds += 1; return { percentage: event.percentage, reason: `change ${folds}` };',
    );
    writeFileSync(join(flags.folder, 'src/impure-flag.ts'), '\nlet folds = 0;\n', { flag: 'a' });
    const { code, stdout, stderr } = await svc('verify', '--program', impure, '--data', 'data');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^fresh-instance {2}flag search: another state from event 1 on, at reas/m,
    );
    expect(stderr).toMatch(/^svc: The folds of src\/impure\.ts depend on .*\[SVC_FOLD_IMPURE\]\n$/);
  });
});

describe('svc verify with the views of a program', () => {
  test('finds rows that depend on the order between entities', async () => {
    const added = 'put({ flags: [...(row?.flags ?? []), entityId] })';
    const program = flags.withView('arrivals', added);
    const { code, stdout, stderr } = await svc('verify', '--program', program, '--data', 'data');
    expect(code).toBe(1);
    expect(stdout).toBe(
      'entity-order  view all: 1 row is different when the same events are folded in another order between entities\n' +
        '  all, flags[0]: "search", and "cart"\n2 entities, 4 events, 1 view\n',
    );
    expect(stderr).toMatch(
      /^svc: The folds of src\/arrivals\.ts depend on .*\[SVC_FOLD_IMPURE\]\n$/,
    );
  });
});

describe('svc upgrade-check with a program', () => {
  const fromProgram = ['--from-program', 'src/components.ts'];

  test('finds a stored event that the new program refuses', async () => {
    const strict = flags.changed(
      'strict',
      "Type.Literal('changed'), percentage: Percentage",
      "Type.Literal('changed'), percentage: Percentage, by: Type.String()",
    );
    const { code, stdout, stderr } = await check(strict, ...fromProgram, '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      program: strict,
      from: 'src/components.ts',
      compared: 'program',
      safe: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ name: 'event-refused', component: 'flag', entities: 2 }),
      ]),
    });
    expect(stderr).toMatch(/^svc: src\/strict\.ts cannot take over .*\[SVC_UPGRADE_UNSAFE\]\n$/);
  });
});

describe('what makes no sense is refused:', () => {
  test.each([
    [['entity', ...FLAG], 2, /--module MODULE\.wasm, --program FILE\.ts, --process ADDRESS/],
    [['entity', ...FLAG, ...PROGRAM, '--module', 'a.wasm'], 2, /found both: a\.wasm and src/],
    [['entity', ...FLAG, ...PROGRAM, '--set', 'a=1'], 2, /takes --set for a module/],
    [['verify', '--data', 'data'], 2, /MODULE\.wasm, --program FILE\.ts, --process ADDRESS/],
    [['verify', 'a.wasm', ...PROGRAM], 2, /found both: a\.wasm and src/],
    [['upgrade-check', '--data', 'data'], 2, /NEW\.wasm, --program NEW\.ts, --process ADDRESS/],
    [
      ['upgrade-check', ...PROGRAM, '--data', 'data', '--from', 'a', '--from-program', 'b'],
      2,
      /found both: a and b/,
    ],
    [['verify', '--program', 'src/nowhere.ts'], 1, /nowhere\.ts: There is no such file/],
    [
      ['entity', ...FLAG, '--program', 'src/main.ts'],
      1,
      /^svc: src\/main\.ts: It starts a service .*\[SVC_PROGRAM_INVALID\]\n$/,
    ],
  ])('svc %j', async (args, code, problem) => {
    const ended = await svc(...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(problem);
  });
});
