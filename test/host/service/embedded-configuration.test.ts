// The configuration of a service in a program: where its values come from, who reads them, and that nothing prints a secret.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineConfiguration,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  get,
  type LogEntry,
  post,
  refuse,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const configuration = defineConfiguration(
  Type.Object({
    currency: Type.String({ default: 'EUR', pattern: '^[A-Z]{3}$' }),
    daysFree: Type.Integer({ minimum: 0, maximum: 365 }),
    key: Type.String(),
  }),
  { secrets: ['key'] },
);
const KEY = 'sk_test_4711';

const loan = defineEntity({
  component: 'loan',
  state: { manifest: 'loan-state', schema: Type.Object({}) },
  event: { manifest: 'loan-event', schema: Type.Object({ type: Type.Literal('late') }) },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    late: { handle: (_state, { persist }) => persist({ type: 'late' }).thenReply() },
  },
});

const loans = defineEndpoint({
  prefix: '/loans',
  access: 'internet',
  routes: {
    terms: get('/terms', { reply: Type.String() }, async (_request, { settings }) => {
      const { currency, daysFree } = await settings(configuration);
      return `${daysFree} days, ${currency}`;
    }),
    late: post('/{id}/late', {}, ({ parameters: { id } }, { call }) => call(loan, id).late()),
    leak: get('/leak', {}, async (_request, { settings }) => {
      const { key } = await settings(configuration);
      return refuse(`not with ${key}`, 'CONFLICT');
    }),
    fail: get('/fail', {}, async (_request, { settings }) => {
      throw new Error(`no good: ${(await settings(configuration)).key}`);
    }),
  },
});

const read: string[] = [];
const notices = defineConsumer({
  id: 'notices',
  start: 'beginning',
  on: [
    {
      entity: loan,
      handle: async (_event, { settings, done }) => {
        read.push((await settings(configuration)).key);
        return done();
      },
    },
  ],
});

async function serve(options: object = {}) {
  const entries: LogEntry[] = [];
  const service = await createService({
    name: 'library',
    journal: 'memory',
    http: false,
    log: (entry) => entries.push(entry),
    entities: [loan],
    endpoints: [loans],
    consumers: [notices],
    configuration,
    ...options,
  });
  onTestFinished(() => service.stop(0));
  const text = async (path: string) => (await service.fetch(`http://x${path}`)).text();
  return { service, entries, text };
}

test('handlers and consumers read the values, and those of the file change while the service runs', async () => {
  const file = join(temporaryFolder(), 'library.yaml');
  const put = (text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  put('daysFree: 14\n');
  const { service, entries, text } = await serve({ configured: { file, values: { key: KEY } } });
  expect(await text('/loans/terms')).toBe('"14 days, EUR"');
  await service.fetch('http://x/loans/l1/late', { method: 'POST' });
  await expect.poll(() => read).toContain(KEY);

  put('daysFree: 14\ncurrency: euro\n');
  const message = () => entries.map((entry) => entry.message).join('\n');
  await expect.poll(message).toContain('the changed configuration cannot be used');
  expect(await text('/loans/terms')).toBe('"14 days, EUR"');
  put('daysFree: 7\ncurrency: SEK\n');
  await expect.poll(() => text('/loans/terms')).toBe('"7 days, SEK"');
});

test('a service with wrong values does not start, and its data folder is not made', async () => {
  const dataFolder = join(temporaryFolder(), 'data');
  const configured = { values: { daysFree: 400, curency: 'EUR' } };
  const options = { dataFolder, journal: undefined, configured };
  await expect(serve(options)).rejects.toMatchObject({
    code: 'SVC_CONFIGURATION_INVALID',
    message:
      `The configuration cannot be used: "curency" is not declared: did you mean 'currency'? (the option configured.values); ` +
      `'daysFree' is not an integer from 0 to 365 (the option configured.values); 'key' is missing: a text. ` +
      "Give the values with the option configured, or with deployed: 'environment' by the settings " +
      'svc.configuration.file and svc.configuration.folder.',
  });
  expect(existsSync(dataFolder)).toBe(false);
});

test('no line of the log has a secret, whatever a handler does with it', async () => {
  const { entries, text } = await serve({ configured: { values: { daysFree: 1, key: KEY } } });
  expect(await text('/loans/leak')).toContain(KEY);
  expect(await text('/loans/fail')).not.toContain(KEY);
  await expect.poll(() => JSON.stringify(entries)).toContain('no good: ***');
  expect(JSON.stringify(entries)).not.toContain(KEY);
});

test('a definition names texts of its schema as secrets', () => {
  const schema = Type.Object({ days: Type.Integer() });
  expect(() => defineConfiguration(schema, { secrets: ['other' as 'days'] })).toThrow(
    "it has no value 'other', which is to be a secret",
  );
  expect(() => defineConfiguration(Type.String())).toThrow('it is no object');
});

test('a service reads its own configuration alone', async () => {
  const other = defineConfiguration(Type.Object({}));
  const endpoint = defineEndpoint({
    prefix: '/other',
    access: 'internet',
    routes: {
      read: get('', {}, async (_request, { settings }) => void (await settings(other))),
    },
  });
  const { service, entries } = await serve({ endpoints: [endpoint], configuration: undefined });
  expect((await service.fetch('http://x/other')).status).toBe(500);
  const logged = JSON.stringify(entries);
  expect(logged).toContain('the configuration is not that of this service');
});
