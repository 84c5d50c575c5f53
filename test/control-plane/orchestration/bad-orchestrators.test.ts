// Logs and problems, and orchestrators that answer falsely, never, or too much: the control plane stays right and bounded.
import { describe, expect, test } from 'vitest';
import { PROBLEMS_BYTES_MAX, problemsText, type ServiceKey } from '@svc/client';
import { service } from '../../../control-plane/model/service.ts';
import { FORGOTTEN_MS } from '../../../control-plane/orchestration/bounded-orchestrator.ts';
import {
  CRASHING_IMAGE,
  OTHER_IMAGE,
  type Fault,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';
import { accepted, givenProject } from '../control-plane-under-test.ts';
import {
  KEY,
  OrchestratedControlPlane,
  ann,
  answered,
  isReady,
  type StartOptions,
} from './orchestrated-control-plane.ts';

const MIB = 1024 * 1024;

async function givenReady(
  options: StartOptions = {},
  image = OTHER_IMAGE,
): Promise<OrchestratedControlPlane> {
  const control = await OrchestratedControlPlane.start(options);
  await givenProject(control.call, 'shop', 'web');
  await control.apply({ image });
  await control.until(isReady);
  return control;
}

describe('hard case 21: logs', () => {
  test('of each instance, with the error of the one that cannot be read', async () => {
    const control = await givenReady();
    const [first, second] = control.orchestrator.instancesOf(KEY);
    second!.unreadable = 'the disk of its machine is gone';
    expect(answered(await control.logs())).toEqual([
      {
        instance: first!.name,
        output: `starting ${OTHER_IMAGE}\nthe other one\nis ready\n`,
        error: null,
      },
      { instance: second!.name, output: '', error: 'the disk of its machine is gone' },
    ]);
  });

  test('of one instance, the last lines, and the last seconds', async () => {
    const control = await givenReady();
    const { name } = control.orchestrator.instancesOf(KEY)[0]!;
    const outputs = async (query: Parameters<typeof control.logs>[0]) =>
      answered(await control.logs({ instance: name, ...query })).map(({ output }) => output);
    expect(await outputs({ tail: 1 })).toEqual(['is ready\n']);
    expect(await outputs({ tail: 0 })).toEqual(['']);
    await control.clock.advance(5000);
    expect(await outputs({ sinceS: 2 })).toEqual(['']);
    expect(await outputs({ sinceS: 0 })).toEqual(['']);
    expect((await outputs({ sinceS: 3600 }))[0]).toContain('is ready');
  });

  test('from before the last restart', async () => {
    const control = await givenReady({}, CRASHING_IMAGE);
    const previous = async () => answered(await control.logs({ previous: true }));
    expect((await previous()).map(({ error }) => error)).toEqual(
      control.orchestrator.instancesOf(KEY).map(({ name }) => `${name} was never restarted`),
    );
    await control.clock.until(async () => (await previous())[0]!.error === null);
    expect((await previous())[0]!.output).toContain('crashed');
  });

  test('are none of an instance of another service, and none while it is paused', async () => {
    const control = await givenReady();
    const shop = { project: 'web', service: 'shop' };
    await control.apply({}, shop);
    await control.until(isReady, shop);
    const instance = control.orchestrator.instancesOf(KEY)[0]!.name;
    expect(answered(await control.logs({ instance }, shop))).toEqual([]);
    accepted(await control.call(service, 'web/cart').pause({ by: ann }));
    const asked = control.orchestrator.asked.get('logs');
    expect(answered(await control.logs())).toEqual([]);
    expect(control.orchestrator.asked.get('logs')).toBe(asked);
  });

  test('of 50 MB are cut to their last lines, and say so', async () => {
    const control = await givenReady();
    const line = `${'x'.repeat(99)}\n`;
    control.orchestrator.faults.set('logs', {
      answers: [
        { instance: 'a', output: line.repeat(500_000), error: null },
        { instance: 'b', output: '\u0000'.repeat(50 * MIB), error: null },
        { instance: 'c', output: '\u{1f600}'.repeat(10 * MIB), error: null },
        { instance: 'd', output: 'short\n', error: null },
      ],
    });
    const instances = answered(await control.logs());
    expect(Buffer.byteLength(JSON.stringify(instances))).toBeLessThan(4 * MIB + 1000);
    expect(instances[0]!.output).toMatch(/^\[\d+ earlier characters are not shown\]\nx{99}\n/);
    expect(instances[0]!.output.length).toBeGreaterThan(0.9 * MIB);
    expect(instances[2]!.output.isWellFormed()).toBe(true);
    expect(instances[3]!.output).toBe('short\n');
  });

  test('of thousands of instances are bounded', async () => {
    const control = await givenReady();
    const one = { instance: 'i'.repeat(1000), output: 'y'.repeat(100_000), error: 'e'.repeat(MIB) };
    control.orchestrator.faults.set('logs', { answers: Array.from({ length: 5000 }, () => one) });
    const instances = answered(await control.logs());
    expect(instances).toHaveLength(100);
    expect(Buffer.byteLength(JSON.stringify(instances))).toBeLessThan(5 * MIB);
  });
});

describe('problems of a descriptor that the orchestrator cannot run', () => {
  test('are those of the orchestrator', async () => {
    const control = await givenReady();
    expect(await control.problems({ instances: 2 })).toEqual([]);
    expect(await control.problems({ instances: 3 })).toEqual([
      { path: '/instances', reason: 'is more than a provisioned database takes: 2' },
    ]);
    const supplied = { instances: 3, database: { urlFrom: 'cart-database' } };
    expect(await control.problems(supplied)).toEqual([]);
  });

  test('are bounded', async () => {
    const control = await givenReady();
    const problem = { path: '/env', reason: 'is\nwrong\u202e '.repeat(1000) };
    control.orchestrator.faults.set('problems', {
      answers: Array.from({ length: 50_000 }, () => problem),
    });
    const problems = await control.problems();
    expect(problems).toHaveLength(1000);
    expect(problems[0]!.reason).not.toMatch(/[\n\u202e]/);
    expect(Buffer.byteLength(problemsText(problems))).toBeLessThanOrEqual(PROBLEMS_BYTES_MAX);
  });
});

const SILENT = 'does not answer: try again later';
const UNUSABLE =
  'answers with something that cannot be used: an operator finds the reason in the log of the control plane';
const FAULTS: readonly (readonly [name: string, fault: Fault, reason: string])[] = [
  ['fails', 'fails', SILENT],
  ['throws', 'throws', SILENT],
  ['hangs', 'hangs', SILENT],
  ['answers nothing', { answers: undefined }, UNUSABLE],
  ['answers text', { answers: 'ok' }, UNUSABLE],
  ['answers a list of nothing', { answers: [null] }, UNUSABLE],
  [
    'answers a list of numbers',
    { answers: [{ path: 1, reason: 2, instance: 3, output: 4 }] },
    UNUSABLE,
  ],
];

describe.each(FAULTS)('an orchestrator that %s', (_name, fault, reason) => {
  test('makes logs unavailable, in the words of the control plane', async () => {
    const control = await givenReady();
    control.orchestrator.failAll(fault);
    expect(await control.logs()).toEqual({
      kind: 'unavailable',
      reason: `the orchestrator of the platform ${reason}`,
    });
    expect(control.log.map(({ level }) => level)).toContain('warn');
    control.orchestrator.failAll(undefined);
    expect(answered(await control.logs())).toHaveLength(2);
  });

  test('is asked for problems once in a while, and has every apply stored meanwhile', async () => {
    const control = await givenReady();
    control.orchestrator.faults.set('problems', fault);
    expect(await control.problems({ instances: 3 })).toEqual([]);
    expect(control.log.map(({ level }) => level)).toContain('warn');
    const before = control.clock.monotonicMs();
    for (let n = 0; n < 10; n++)
      // oxlint-disable-next-line no-await-in-loop -- one apply after the other
      expect(await control.problems({ instances: 3 })).toEqual([]);
    expect(control.clock.monotonicMs() - before).toBeLessThan(2000);
    expect(control.orchestrator.asked.get('problems')).toBe(1);
    control.orchestrator.faults.delete('problems');
    await control.clock.advance(5000);
    expect(await control.problems({ instances: 3 })).toHaveLength(1);
  });
});

test('hard case 17: a service that is applied while the orchestrator is down, and then refused, is failed', async () => {
  const control = await givenReady();
  control.orchestrator.failAll('fails');
  expect(await control.problems()).toEqual([]);
  const taken = { project: 'web', service: 'taken' };
  await control.apply({}, taken);
  expect(await control.status(taken)).toMatchObject({ lifecycle: 'pending', confirmed: false });
  control.orchestrator.foreign.add('web/taken');
  control.orchestrator.failAll(undefined);
  expect(await control.until(({ lifecycle }) => lifecycle === 'failed', taken)).toMatchObject({
    detail: "web/taken exists, and is not the platform's",
  });
});

describe('an observation that cannot be true', () => {
  const good = {
    kind: 'workload',
    key: KEY,
    incarnation: 'a',
    generation: 1,
    wantedInstances: 2,
    readyInstances: 2,
    updatedInstances: 2,
    rollout: { kind: 'complete' },
  };
  const FALSE: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['text', 'ready'],
    ['another service', { ...good, key: { project: 'web', service: 'shop' } }],
    ['another service that has nothing', { kind: 'none', key: { project: 'x', service: 'cart' } }],
    ['no key', { kind: 'none' }],
    ['an unknown kind', { ...good, kind: 'many' }],
    ['a generation between two', { ...good, generation: 1.5 }],
    ['a negative generation', { ...good, generation: -1 }],
    ['no generation', { ...good, generation: Number.NaN }],
    ['more updated instances than ready ones', { ...good, updatedInstances: 3 }],
    ['a million instances', { ...good, readyInstances: 1e6 }],
    ['instances as text', { ...good, readyInstances: '2' }],
    ['no incarnation', { ...good, incarnation: '' }],
    ['an incarnation with markup', { ...good, incarnation: '<b>' }],
    ['an unknown rollout', { ...good, rollout: { kind: 'done' } }],
    ['no rollout', { ...good, rollout: null }],
    ['a failure without a reason', { ...good, rollout: { kind: 'failed' } }],
    ['a progress at no time', { ...good, rollout: { kind: 'progressing', sinceMs: Infinity } }],
    ['a detail that is no text', { ...good, detail: { toString: 1 } }],
  ];

  test.each(FALSE)('counts as none: %s', async (_name, answers) => {
    const control = await givenReady();
    const { confirmed: _, ...known } = await control.status();
    control.orchestrator.faults.set('observe', { answers });
    const status = await control.status();
    expect(status).toEqual({
      ...known,
      confirmed: false,
      detail:
        'the orchestrator answers with something that cannot be used (an operator finds the reason in the log of the control plane), ' +
        'so this is what was last known',
    });
  });

  test('shows a detail of 50 MB and of several lines short and on one line', async () => {
    const control = await givenReady();
    const observation = await control.orchestrator.observe(KEY);
    const detail = `no\nspace \u001b[31m left\u202e ${'z'.repeat(50 * MIB)}`;
    control.orchestrator.faults.set('observe', { answers: { ...observation, detail } });
    const shown = (await control.status()).detail!;
    expect(shown).toMatch(/^no space \\u\{1b\}\[31m left\\u\{202e\} z+$/);
    expect(shown.length).toBeLessThan(2100);
  });

  test('takes a rollout that made progress in the future as one that made it now', async () => {
    const control = await givenReady();
    const observation = await control.orchestrator.observe(KEY);
    const sinceMs = control.clock.nowMs() + 1e12;
    control.orchestrator.faults.set('observe', {
      answers: { ...observation, rollout: { kind: 'progressing', sinceMs } },
    });
    expect((await control.status()).lifecycle).toBe('deploying');
  });
});

describe('an orchestrator that hangs', () => {
  test('delays one status in a while, and the others restate what is known at once', async () => {
    const control = await givenReady();
    control.orchestrator.faults.set('observe', 'hangs');
    const before = control.clock.monotonicMs();
    await control.status();
    const first = control.clock.monotonicMs() - before;
    expect(first).toBeGreaterThanOrEqual(2000);
    const again = control.clock.monotonicMs();
    for (let n = 0; n < 10; n++)
      // oxlint-disable-next-line no-await-in-loop -- one status after the other
      expect((await control.status()).confirmed).toBe(false);
    expect(control.clock.monotonicMs() - again).toBeLessThan(1000);
  });

  test('is not asked any more while too many calls have not ended, and is asked again when they have', async () => {
    const section = { abandonedCallsOfServiceMax: 3, abandonedCallsMax: 5 };
    const control = await givenReady({ section });
    const shop = { project: 'web', service: 'shop' };
    await control.apply({}, shop);
    await control.until(isReady, shop);
    const asked = () => control.orchestrator.asked.get('logs') ?? 0;
    const before = asked();
    control.orchestrator.faults.set('logs', 'hangs');
    const unavailable = { kind: 'unavailable', reason: expect.stringContaining('try again later') };
    for (let n = 0; n < 5; n++) expect(await control.logs()).toEqual(unavailable);
    expect(asked() - before).toBe(3);
    for (let n = 0; n < 5; n++) expect(await control.logs({}, shop)).toEqual(unavailable);
    expect(asked() - before).toBe(5);
    // What does not hang is asked all the time.
    expect(await control.until(isReady)).toMatchObject({ confirmed: true });
    control.orchestrator.faults.delete('logs');
    expect(await control.logs()).toEqual(unavailable);
    await control.clock.advance(FORGOTTEN_MS);
    expect(answered(await control.logs())).toHaveLength(2);
  });

  test('that hangs with observations has them restated, however often it is asked', async () => {
    const section = { abandonedCallsOfServiceMax: 3, observePauseMs: 0 };
    const control = await givenReady({ section });
    await control.clock.advance(120_000);
    const before = control.orchestrator.asked.get('observe')!;
    control.orchestrator.faults.set('observe', 'hangs');
    for (let n = 0; n < 6; n++)
      expect(await control.status()).toMatchObject({ confirmed: false, readyInstances: 2 });
    expect(control.orchestrator.asked.get('observe')! - before).toBeLessThanOrEqual(3);
  });

  test('is asked once for a hundred statuses of a service at the same time', async () => {
    const control = await givenReady();
    await control.clock.advance(120_000);
    const before = control.orchestrator.asked.get('observe')!;
    const state = await control.state();
    await Promise.all(
      Array.from({ length: 100 }, () => control.orchestration.status(KEY, { state })),
    );
    expect(control.orchestrator.asked.get('observe')).toBe(before + 1);
  });
});

describe('reports of changes', () => {
  test('of what is no service, or not of the platform, change and keep nothing', async () => {
    const control = await givenReady();
    await control.clock.advance(5000);
    control.orchestrator.reconciled.length = 0;
    const keys = [
      { project: 'web', service: 'nobody' },
      { project: '__proto__', service: 'constructor' },
      { project: 'web/cart', service: 'cart' },
      { project: 'x'.repeat(100_000), service: 'y' },
      { project: 7, service: {} } as unknown as ServiceKey,
      {} as ServiceKey,
    ];
    for (const key of keys) control.orchestrator.report(key);
    await control.clock.advance(10_000);
    expect(control.orchestrator.reconciled).toEqual([]);
  });

  test('end with the control plane', async () => {
    const control = await givenReady();
    expect(control.orchestrator.watchers).toBe(1);
    await control.stop();
    expect(control.orchestrator.watchers).toBe(0);
    expect(control.clock.waiting).toBe(0);
  });
});
