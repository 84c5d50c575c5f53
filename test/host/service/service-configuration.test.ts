// The configuration of a running service: what it starts with, and what becomes of changes.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '@svc/kit/log-entry';
import type { ModuleDescriptor } from '../../../contract/index.ts';
import type { ConfigurationTexts } from '../../../model/configuration.ts';
import { logWithoutSecrets } from '../../../host/service/log-without-secrets.ts';
import { ServiceConfiguration } from '../../../host/service/service-configuration.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const descriptor = {
  types: {
    Settings: {
      type: 'object',
      properties: { days: { type: 'integer', minimum: 0, maximum: 99 }, key: { type: 'string' } },
      required: ['days'],
    },
  },
  configuration: { schema: { $ref: '#/types/Settings' }, secrets: ['key'] },
} as unknown as ModuleDescriptor;

function configured(judge?: (json: string) => string | undefined) {
  const dir = temporaryFolder();
  const [file, folder] = [join(dir, 'values.yaml'), join(dir, 'values')];
  mkdirSync(folder);
  const entries: LogEntry[] = [];
  const changes: ConfigurationTexts[] = [];
  const configuration = new ServiceConfiguration({
    sources: { file, folder, assignments: [] },
    log: (entry) => entries.push(entry),
    onChange: (texts) => changes.push(texts),
    judge,
    pollMs: 50,
  });
  onTestFinished(() => configuration.close());
  /** Replaces the file at once, as editors and clusters do. */
  const put = (path: string, text: string) => {
    writeFileSync(`${dir}/new`, text, { mode: 0o600 });
    renameSync(`${dir}/new`, path);
  };
  return { file, folder, entries, changes, configuration, put };
}

test('a valid change is used, and an invalid one leaves the values before, is logged once, and is reported until it is mended', async () => {
  const { file, folder, entries, changes, configuration, put } = configured();
  put(file, 'days: 1\n');
  await configuration.prepare({ descriptor });
  expect(configuration.of({ descriptor })!.json).toBe('{"days":1}');
  configuration.watch();

  put(file, 'days: 2\n');
  await expect.poll(() => changes.map(({ json }) => json)).toEqual(['{"days":2}']);
  put(file, 'days: many\n');
  await expect.poll(() => configuration.problem).toContain("'days' is not an integer");
  expect(configuration.of({ descriptor })!.json).toBe('{"days":2}');
  rmSync(file);
  await expect.poll(() => configuration.problem).toContain('cannot be read (ENOENT)');
  put(file, 'days: 2\n');
  await expect.poll(() => configuration.problem).toBeUndefined();
  put(join(folder, 'days'), '3\n');
  await expect.poll(() => changes.at(-1)?.json).toBe('{"days":3}');
  expect(entries.map(({ level }) => level)).toEqual(['info', 'error', 'error', 'info']);
});

test('a service with missing values is refused, with all that is missing', async () => {
  const { file, configuration, put } = configured();
  put(file, 'dais: 1\n');
  await expect(configuration.prepare({ descriptor })).rejects.toMatchObject({
    code: 'SVC_CONFIGURATION_INVALID',
    message: expect.stringMatching(/"dais" is not declared.*; 'days' is missing: an integer/),
  });
});

test('a service whose file cannot be read is refused as one that may start later', async () => {
  const { file, configuration, put } = configured();
  await expect(configuration.prepare({ descriptor })).rejects.toMatchObject({
    code: 'SVC_CONFIGURATION_UNREADABLE',
    message: expect.stringContaining(`${file} cannot be read (ENOENT). Give the values with`),
  });
  put(file, 'days: 1\n');
  await configuration.prepare({ descriptor });
});

test('a secret that was replaced is not printed either', async () => {
  const { file, entries, changes, configuration, put } = configured();
  put(file, 'days: 1\nkey: the-first-key\n');
  await configuration.prepare({ descriptor });
  configuration.watch();
  put(file, 'days: 1\nkey: the-second-key\n');
  await expect.poll(() => changes).toHaveLength(1);
  expect(changes[0]!.secrets).toEqual(['the-second-key', 'the-first-key']);
  const log = logWithoutSecrets(
    (entry) => entries.push(entry),
    () => configuration.current,
  );
  const message = 'the-first-key and the-second-key';
  log({ level: 'info', message, fields: { reason: message, count: 1 } });
  expect(entries.at(-1)).toEqual({
    level: 'info',
    message: '*** and ***',
    fields: { reason: '*** and ***', count: 1 },
  });
});

test('a rule of the program that quotes the values shows no secret', async () => {
  const { file, configuration, put } = configured((json) => `not allowed: ${json}`);
  put(file, 'days: 1\nkey: the "first" key\n');
  await expect(configuration.prepare({ descriptor })).rejects.toMatchObject({
    message: expect.stringContaining('not allowed: {"days":1,"key":"***"}'),
  });
});
