// A service in standby says that it is prepared, and leaves a process alone that it could not replace; its log files and its
// state file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { observeState } from '../../kit/state-file.ts';
import { managementOf } from '../support/deployed-service.ts';
import {
  increment,
  servedInstance,
  standbyModules,
  startInstance,
  startStandby,
  untilPhase,
} from '../support/standby-instances.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const modules = standbyModules();

test('a service in standby says that it is prepared, and not that it is ready', async () => {
  const folder = temporaryFolder();
  const { old } = await servedInstance(folder, modules.counter);
  const next = startStandby(folder, modules.counter);
  await untilPhase(next, 'prepared');
  const management = await managementOf(next.svc);
  const answer = await fetch(`${management}/ready`);
  expect(answer.status).toBe(503);
  const report = (await answer.json()) as { parts: readonly { part: string }[] };
  expect(report).toMatchObject({ ready: false, prepared: true });
  expect(report.parts).toContainEqual({
    part: 'journal',
    ready: false,
    reason: 'Another process uses the journal, which this one waits for.',
  });
  await old.svc.end('SIGTERM');
  await untilPhase(next, 'ready');
  const ready = await fetch(`${management}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.not.objectContaining({ prepared: true }),
  ]);
});

test.each([
  [
    'does not know the stored events',
    () => modules.foreign,
    'SVC_MANIFEST_UNREADABLE',
    "'.*' of component 'counter'",
  ],
  [
    'cannot fold the stored events',
    () => modules.renamed,
    'SVC_UPGRADE_UNSAFE',
    'event-refused \\(counter\\)',
  ],
])(
  'a module that %s ends in standby, and the old one serves on',
  async (_, module, code, message) => {
    const folder = temporaryFolder();
    const { url } = await servedInstance(folder, modules.counter);
    const next = startStandby(folder, module());
    const ended = await next.svc.ended;
    expect(ended.code).toBe(1);
    expect(observeState(next.stateFile)).toMatchObject({
      kind: 'ended',
      exit: { code: 1, signal: null, error: code, message: expect.stringMatching(message) },
    });
    expect(await increment(url, 'a')).toEqual({ value: 2 });
  },
);

test('the log goes to files, and what is invalid goes to the state file', async () => {
  const folder = temporaryFolder();
  const logs = join(folder, 'logs');
  const { svc } = startInstance(folder, modules.counter, [`svc.log.files.dir=${logs}`]);
  await svc.listening();
  const { stderr } = await svc.end('SIGTERM');
  expect(stderr).toBe('');
  expect(readdirSync(logs)).toEqual(['service.log']);
  const messages = readFileSync(join(logs, 'service.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toEqual(['management listening', 'listening', 'stopping', 'stopped']);
  const invalid = startInstance(folder, modules.counter, ['svc.http.answer-timeout-ms=soon']);
  expect((await invalid.svc.ended).code).toBe(1);
  expect(observeState(invalid.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_SETTING_INVALID' },
  });
});
