// W22: a secret, and what a receiver is trusted with, is in the answers that show it, and nowhere else.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEndpoint, post, respond, type LogEntry } from '@svc/host';
import { TestJournal } from '@svc/host/testing';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { tenant } from '../../../webhooks/model/tenant.ts';
import { FolderSalts } from '../../../webhooks/subscriptions/salts.ts';
import { SubscriptionFlows } from '../../../webhooks/subscriptions/subscription-flows.ts';
import { TenantKeys } from '../../../webhooks/subscriptions/tenant-keys.ts';
import { TenantSubscriptions } from '../../../webhooks/subscriptions/tenant-subscriptions.ts';
import { addresses } from './checked-requests.ts';
import {
  MASTER_KEY,
  accepted,
  callsOf,
  outcomeOf,
  ownFolder,
  startSubscriptions,
} from './subscriptions-under-test.ts';

const CREDENTIALS = 'Bearer of-the-receiver-49152';
const REQUEST = {
  url: 'https://receiver.example/hook?token=in-the-url-49152',
  headers: { Authorization: CREDENTIALS },
  filters: { nameRegex: 'of-a-customer-49152' },
};

/** Parts of the request that are as secret, and the forms in which bytes of a text, or of a secret, may be written. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const texts = [...secrets, 'of-the-receiver-49152', 'in-the-url-49152', 'of-a-customer-49152'];
  const bytes = [
    ...texts.map((text) => Buffer.from(text)),
    ...secrets.map((secret) => Buffer.from(secret, 'base64url')),
  ];
  const encoded = bytes.flatMap((one) => [
    one.toString('hex'),
    one.toString('hex').toUpperCase(),
    // A text within another one begins at any of three places of a group.
    ...[0, 1, 2].map((skipped) => middleOfBase64(one, skipped)),
  ]);
  return [
    ...texts,
    ...encoded,
    ...encoded.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

function middleOfBase64(bytes: Uint8Array, skipped: number): string {
  const part = bytes.subarray(skipped, skipped + 3 * Math.floor((bytes.length - skipped) / 3));
  return Buffer.from(part).toString('base64');
}

/** The forms of secrets that a text or the content of files has. */
function leaksIn(content: string, secrets: readonly string[]): readonly string[] {
  return formsOf(secrets).filter((form) => content.includes(form));
}

async function contentOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1'));
  return (await Promise.all(contents)).join('\n');
}

test('the search finds a secret in each of its forms', () => {
  const secret = Buffer.alloc(32, 200).toString('base64url');
  const bytes = Buffer.from(secret, 'base64url');
  const written = [secret, bytes.toString('hex'), Buffer.from(`x${secret}`).toString('base64')];
  for (const content of written) expect(leaksIn(`a ${content} b`, [secret])).not.toEqual([]);
  expect(leaksIn(CREDENTIALS, [secret])).not.toEqual([]);
  expect(leaksIn('nothing', [secret])).toEqual([]);
});

test('W22: neither list, nor reading, nor change shows a secret', async () => {
  const { call, flows } = await startSubscriptions();
  const created = accepted(await flows.create(call, 'acme', REQUEST));
  const rotated = accepted(await flows.rotate(call, 'acme', created.id, undefined));
  const secrets = [created.secret!, rotated.secret!];
  const { id } = created;
  const answers = [
    await flows.list('acme'),
    accepted(await flows.get('acme', id)),
    accepted(await flows.patch(call, 'acme', id, { events: ['dataset.failed'] })),
    accepted(await flows.replace(call, 'acme', id, REQUEST)),
  ];
  for (const answer of answers) {
    expect(JSON.stringify(answer)).toContain(CREDENTIALS);
    expect(secrets.filter((secret) => JSON.stringify(answer).includes(secret))).toEqual([]);
    expect(answer).not.toHaveProperty('secret');
  }
});

test('W22: no event and no reply that is kept has a secret', async () => {
  const journal = new TestJournal();
  const { call, flows } = await startSubscriptions({ journal });
  const created = accepted(await flows.create(callsOf(call, 'k1'), 'acme', REQUEST));
  const { id } = created;
  const rotated = accepted(await flows.rotate(callsOf(call, 'k2'), 'acme', id, {}));
  const patch = { headers: { Authorization: `${CREDENTIALS}-2` } };
  accepted(await flows.patch(callsOf(call, 'k3'), 'acme', id, patch));
  const refused = await flows.replace(callsOf(call, 'k3'), 'acme', id, REQUEST);
  expect(outcomeOf(refused)).toBe('UNPROCESSABLE');
  const contents = journal.contents();
  expect(contents).toContain('rotate.1');
  expect(contents).toContain(id);
  expect(leaksIn(contents, [created.secret!, rotated.secret!])).toEqual([]);
});

test('W22: the files, the log and the metrics of a service have no secret', async () => {
  const folder = await ownFolder();
  const entries: LogEntry[] = [];
  const keys = new TenantKeys(MASTER_KEY, await FolderSalts.open(folder));
  // The service is made after the flows, which need its calls for lists alone.
  const subscriptions = new TenantSubscriptions({
    keys,
    call: (entity, id) => service.call(entity, id),
    clock: SYSTEM_CLOCK,
    log: (entry) => void entries.push(entry),
  });
  const flows = new SubscriptionFlows({ subscriptions, keys, addresses, clock: SYSTEM_CLOCK });
  const endpoint = defineEndpoint({
    name: 'webhooks',
    prefix: '',
    access: 'internet',
    routes: {
      create: post('/webhooks', { body: 'text', reply: 'text' }, async ({ body }, { call }) => {
        const created = await flows.create(call, 'acme', JSON.parse(body));
        return created.isOk ? respond(JSON.stringify(created.value)) : created;
      }),
      rotate: post('/webhooks/{id}', { reply: 'text' }, async ({ parameters }, { call }) => {
        const rotated = await flows.rotate(call, 'acme', parameters.id, undefined);
        return rotated.isOk ? respond(JSON.stringify(rotated.value)) : rotated;
      }),
    },
  });
  const service = await createService({
    name: 'webhooks',
    entities: [tenant],
    endpoints: [endpoint],
    dataFolder: join(folder, 'control'),
    http: { port: 0 },
    management: { port: 0 },
    observability: { local: true, runningFolder: join(folder, 'running') },
    log: (entry) => void entries.push(entry),
  });
  onTestFinished(() => service.stop());
  const request = async (path: string, key: string, body?: string): Promise<string> => {
    const headers = { 'idempotency-key': key, 'content-type': 'text/plain' };
    const response = await service.fetch(path, { method: 'POST', headers, ...(body && { body }) });
    return await response.text();
  };
  const first = await request('/webhooks', 'k1', JSON.stringify(REQUEST));
  const { id, secret } = JSON.parse(first) as { id: string; secret: string };
  expect(await request('/webhooks', 'k1', JSON.stringify(REQUEST))).toBe(first);
  const second = JSON.parse(await request(`/webhooks/${id}`, 'k2')) as { secret: string };
  // A failure, which is logged.
  await keys.remove('acme', 0);
  const failed = await request(`/webhooks/${id}`, 'k3');
  const metrics = await (await fetch(`${service.managementUrl}/svc/metrics`)).text();
  await service.stop();

  const secrets = [secret, second.secret];
  expect(failed).toContain('"status":500');
  expect(
    entries.some((entry) => JSON.stringify(entry).includes('SVC_SUBSCRIPTION_UNREADABLE')),
  ).toBe(true);
  expect(metrics).toContain('svc_');
  const files = await contentOf(folder);
  expect(files).toContain(id);
  for (const content of [failed, JSON.stringify(entries), metrics, files])
    expect(leaksIn(content, secrets)).toEqual([]);
});
