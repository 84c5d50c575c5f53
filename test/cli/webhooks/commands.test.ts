// svc webhooks … with a real webhook service over HTTP, and receivers on loopback.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, afterEach, expect, test, vi } from 'vitest';
import { verifyWebhook } from '@svc/client';
import { runCommand } from '../../support/command-line.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { REPORT } from '../../support/webhook-process.ts';
import {
  startReceiver,
  WebhookServiceUnderTest,
} from '../../webhooks/service/webhook-service-under-test.ts';

let home: string;

beforeEach(() => {
  home = temporaryFolder();
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'])
    vi.stubEnv(name, join(home, name));
  vi.stubEnv('SVC_TOKEN', 'a-token');
  vi.stubEnv('SVC_TENANT', 'acme');
});
afterEach(() => vi.unstubAllEnvs());

async function started(limits = {}): Promise<WebhookServiceUnderTest> {
  const service = new WebhookServiceUnderTest();
  await service.start(limits);
  vi.stubEnv('SVC_URL', service.url);
  return service;
}

/** Runs a command that has to succeed. */
async function svc(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['webhooks', ...words]);
  if (code !== 0) throw new Error(`svc webhooks ${words.join(' ')}: ${stderr}`);
  return `${stdout}${stderr}`;
}

/** Reports a dataset, and returns the id of the only delivery of its event. */
async function reported(dataset: string, outcome: string): Promise<string> {
  const file = join(home, 'dataset.json');
  writeFileSync(file, JSON.stringify(REPORT));
  expect(await svc('report', dataset, '-f', file)).toMatch(/^event +evt_/);
  let delivery = '';
  await vi.waitFor(async () => {
    const [line] = (await svc('deliveries', '--dataset', dataset)).split('\n').slice(1);
    expect(line).toContain(`dataset.completed  ${dataset}`);
    expect(line).toContain(outcome);
    [delivery] = line!.split(' ') as [string];
  });
  return delivery;
}

test('a subscription is created, shown, changed, replaced and deleted, and its secret is shown once', async () => {
  await started();
  expect(await svc('list')).toContain('has no subscriptions. Create one');
  const words = 'create https://hooks.example.com/a --event dataset.failed --tag a --tag b';
  const more = ['--name-regex', '^x', '--sign', 'path', '--header', 'X-Key: a:b'];
  const created = await svc(...words.split(' '), ...more);
  expect(created).toMatch(/^filters +name \^x, tags a and b$/m);
  expect(created).toMatch(/^signed +path, hmac-sha256$/m);
  expect(created).toContain('The secret is shown once');
  const [, secret] = /^secret +(\S+)$/m.exec(created)!;
  const [, id] = /^id +(\S+)$/m.exec(created)!;
  expect(await svc('list', '-o', 'names')).toBe(`${id}\n`);
  const body = JSON.parse(await svc('get', id!, '-o', 'json')) as object;
  expect(body).toMatchObject({ headers: { 'X-Key': 'a:b' }, events: ['dataset.failed'] });

  const patch = join(home, 'patch.json');
  writeFileSync(patch, '{"filters":{"tags":null},"headers":{"X-Key":null},"events":null}');
  const changed = await svc('change', id!, '-f', patch);
  expect(changed).toMatch(/^events +dataset\.\*\nfilters +name \^x\n/m);
  expect(changed).not.toMatch(/^headers/m);
  expect(await svc('change', id!, '--url', 'https://hooks.example.com/b')).toContain('/b\n');
  expect(await svc('replace', id!, 'https://hooks.example.com/c')).not.toMatch(/^filters/m);

  const rotated = await svc('rotate-secret', id!, '--grace', '60');
  expect(/^secret +(\S+)$/m.exec(rotated)![1]).not.toBe(secret);
  const others = [await svc('get', id!), await svc('list', '-o', 'json'), changed].join('');
  expect(others).not.toContain(secret);
  expect(others).not.toMatch(/^secret/m);
  expect(await svc('delete', id!, '--yes')).toBe(`Deleted the subscription ${id}.\n`);
  expect(await svc('list', '-o', 'json')).toBe('[]\n');
});

test('the log is filtered and paged, and a delivery has its attempts and its body', async () => {
  await started();
  const receiver = await startReceiver();
  await svc('create', receiver.url);
  const [first, second] = [await reported('1', 'delivered'), await reported('2', 'delivered')];
  const page = await svc('deliveries', '--limit', '1');
  expect(page).toContain(second);
  const [next] = /--cursor=\S+$/m.exec(page)!;
  expect(await svc('deliveries', '--limit', '1', next, '-o', 'names')).toBe(`${first}\n`);
  expect(await svc('deliveries', '--outcome', 'pending')).toBe('There are no such deliveries.\n');
  expect(JSON.parse(await svc('deliveries', '-o', 'json'))).toHaveLength(2);
  const shown = await svc('delivery', first);
  expect(shown).toMatch(/^1 +1 +\S+Z +200 +\d+$/m);
  expect(shown).toContain(`\n${receiver.received[0]!.body.toString()}\n`);
  expect(await svc('retry', first)).toMatch(/^outcome +pending$/m);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(3));
  expect(receiver.received[2]!.body).toEqual(receiver.received[0]!.body);
});

test('what was exhausted since a time is delivered again, and is only listed with --dry-run', async () => {
  await started({ backlogMax: 1 });
  const stalled = await startReceiver(() => 500);
  const created = await svc('create', stalled.url);
  await reported('1', 'pending');
  let exhausted: string | undefined;
  // The backlog is counted at intervals.
  for (let dataset = 2; exhausted === undefined; dataset += 1)
    exhausted = await reported(String(dataset), 'backlog_full').catch(() => undefined);
  const ids = (await svc('deliveries', '--outcome', 'exhausted', '-o', 'names')).trim().split('\n');
  expect(ids).toContain(exhausted);
  expect(await svc('replay', '--since', '1h', '--dry-run')).toContain('would be made again.');
  expect(await svc('replay', '--since', '2999-01-01')).toContain('Made again: 0 deliveries.');
  const [, subscription] = /^id +(\S+)$/m.exec(created)!;
  expect(await svc('replay', '--since', '1h', '--subscription', subscription!)).toContain(
    `Made again: ${ids.length} `,
  );
  expect(await svc('delivery', exhausted)).toMatch(/^outcome +pending$/m);
});

test('the body of a delivery goes to another receiver, signed afresh', async () => {
  await started();
  const receiver = await startReceiver();
  await svc('create', receiver.url);
  const delivery = await reported('1', 'delivered');
  const other = await startReceiver((number) => (number === 1 ? 204 : 500));
  vi.stubEnv('SVC_WEBHOOK_SECRET', 'the secret of the other receiver');
  expect(await svc('replay', delivery, '--to', other.url)).toMatch(/answered 204 in \d+ ms/);
  const [{ headers, body }] = other.received as [(typeof other.received)[0]];
  expect(body).toEqual(receiver.received[0]!.body);
  const secrets = ['the secret of the other receiver'];
  expect(await verifyWebhook({ headers, body, secrets })).toEqual({ kind: 'verified' });
  const refused = await runCommand(['webhooks', 'replay', delivery, '--to', other.url]);
  expect(refused.stderr).toContain('answered 500, and a receiver answers 2xx');
  expect(refused.stderr).toContain('[SVC_WEBHOOK_REFUSED]');
  vi.stubEnv('SVC_WEBHOOK_SECRET', undefined);
  const [port] = await freePorts(1);
  const away = `http://127.0.0.1:${port}/`;
  const gone = await runCommand(['webhooks', 'replay', delivery, '--to', away]);
  expect(gone.stderr).toMatch(
    /Signed with the secret \S{43}, .*\n.*gave no answer \(.*ECONNREFUSED/,
  );
  expect(await svc('deliveries', '-o', 'names')).toBe(`${delivery}\n`);
});

test('a tenant is removed by the platform', async () => {
  await started();
  await svc('create', 'https://hooks.example.com/a');
  expect(await svc('remove-tenant', 'acme', '--yes')).toContain('Removed all');
  expect(await svc('list')).toContain('has no subscriptions');
});

const REFUSALS: readonly (readonly [words: readonly string[], code: number, message: RegExp])[] = [
  [['get', 'wh_1'], 1, /answered 404: there is no such subscription\. svc webhooks list and/],
  [['get', 'wh_1'], 1, /deliveries show what the tenant has\. \[SVC_API_REFUSED\]/],
  [['create'], 2, /needs the URL of a receiver, or the file/],
  [['create', 'ftp://x', '--header', 'Host: x'], 1, /answered 400: headers\/Host: .*; url: /],
  [['create', 'http://a.test', '--event', 'x'], 2, /events\/0 is "x": use dataset/],
  [['create', 'http://a.test', '--header', 'X-Key'], 2, /takes a header such as/],
  [['create', 'http://a.test', '--header', 'A:1', '--header', 'A:2'], 2, /header A once/],
  [['create', 'http://a.test', '-f', 'x.json'], 2, /takes url as options or from a file, not both/],
  [['create', '-f', 'missing.json'], 2, /cannot read missing\.json \(ENOENT\)/],
  [['create', '-f', import.meta.filename], 2, /found no JSON in /],
  [['change', 'wh_1'], 2, /needs to know what to change/],
  [['rotate-secret', 'wh_1', '--grace', 'x'], 2, /whole number of seconds/],
  [['rotate-secret', 'wh_1', '--grace', '999999'], 2, /gracePeriodSeconds/],
  [['deliveries', '--limit', 'x'], 2, /whole number as --limit/],
  [['deliveries', '--outcome', 'lost'], 2, /pending/],
  [['report', '7'], 2, /needs the file of a dataset/],
  [['replay'], 2, /takes --since TIME, or a delivery with --to URL/],
  [['replay', 'dl_1'], 2, /takes a delivery together with --to URL/],
  [['replay', '--since', 'x'], 2, /takes a time as --since/],
  [['replay', 'dl_1', '--to', 'http://a', '--dry-run'], 2, /with --since alone/],
  [['replay', 'dl_1', '--to', 'ftp://a'], 2, /takes a URL with http or https/],
  [['replay', 'dl_1', '--to', 'http://a:b@c'], 2, /takes no user name and no password/],
  [['listen', '--to', 'hooks'], 2, /takes a URL with http or https as --to/],
  [['delete', 'wh_1'], 2, /Give --yes/],
];

test('whatever is wrong is said, with what to do', async () => {
  await started();
  for (const [words, code, message] of REFUSALS) {
    const ended = await runCommand(['webhooks', ...words]);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(message);
  }
});

test('without a tenant a command says how to choose one', async () => {
  vi.stubEnv('SVC_URL', 'https://api.example.com');
  vi.stubEnv('SVC_TENANT', undefined);
  const { code, stderr } = await runCommand(['webhooks', 'list']);
  expect(code).toBe(2);
  expect(stderr).toContain(
    'give --tenant ID, set SVC_TENANT, or svc context set NAME --tenant ID.',
  );
});
