// svc webhooks listen as a process, beside a real webhook service.
import { verifyWebhook } from '@svc/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts } from '../../support/free-ports.ts';
import { SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { REPORT } from '../../support/webhook-process.ts';
import {
  startReceiver,
  WebhookServiceUnderTest,
} from '../../webhooks/service/webhook-service-under-test.ts';

function listen(
  service: WebhookServiceUnderTest,
  words: readonly string[] = [],
  variables: NodeJS.ProcessEnv = {},
): SvcProcess {
  const env = { ...variables, SVC_URL: service.url, SVC_TOKEN: 'a-token', SVC_TENANT: 'acme' };
  const svc = new SvcProcess(['webhooks', 'listen', ...words], { cwd: temporaryFolder(), env });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

async function subscriptions(service: WebhookServiceUnderTest): Promise<number> {
  return ((await service.send('GET', '/webhooks')).json as readonly unknown[]).length;
}

test('listen shows and passes on what is verified, gives the answer back, and leaves no subscription', async () => {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const program = await startReceiver(() => 418);
  const svc = listen(service, ['--to', program.url]);
  await vi.waitFor(() => expect(svc.stderr).toContain('Listening at'), 10_000);
  const [, url] = /Listening at (\S+) /.exec(svc.stderr)!;

  await service.send('PUT', '/datasets/7', REPORT);
  await vi.waitFor(
    () => expect(svc.stdout).toContain(`verified, answered 418 from ${program.url}`),
    5_000,
  );
  expect(svc.stdout).toMatch(/^\S+Z {2}dataset\.completed {2}dl_\S+ {2}verified/);
  const [{ headers, body }] = program.received as [(typeof program.received)[0]];
  const secrets = [/signed with the secret ([\w-]{43});/.exec(svc.stderr)![1]!];
  expect(await verifyWebhook({ headers, body, secrets })).toEqual({ kind: 'verified' });
  await vi.waitFor(async () => {
    const { json } = await service.send('GET', '/webhooks/deliveries');
    expect(json).toMatchObject([{ attempts: [{ status: 418 }] }]);
  });

  // Whoever knows the port can send, and is not believed.
  const forged = await fetch(url!, {
    method: 'POST',
    body: '\u001b[31mforged',
    headers: { 'x-hook-event': 'x' },
  });
  expect(forged.status).toBe(401);
  await vi.waitFor(() =>
    expect(svc.stdout).toContain('refused: the request has no X-Hook-Signature'),
  );
  expect(svc.stdout).not.toContain('forged');
  expect(program.received).toHaveLength(1);

  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(await subscriptions(service)).toBe(0);
});

test('listen writes a line of JSON for each delivery, and answers 502 if the program is away', async () => {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const [port] = await freePorts(1);
  const svc = listen(service, [
    '--to',
    `http://127.0.0.1:${port}/`,
    '-o',
    'json',
    '--sign',
    'path',
  ]);
  await vi.waitFor(() => expect(svc.stderr).toContain('Listening at'), 10_000);
  await service.send('PUT', '/datasets/7', REPORT);
  await vi.waitFor(() => expect(svc.stdout).toContain('\n'), 5_000);
  expect(JSON.parse(svc.stdout)).toMatchObject({
    eventType: 'dataset.completed',
    status: 502,
    failure: expect.stringContaining('ECONNREFUSED') as string,
  });
  expect(await svc.end('SIGINT')).toMatchObject({ code: 0 });
});

test('a program gets the path signed that it has, with the secret that it has', async () => {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const program = await startReceiver();
  const words = ['--to', `${program.url}?a=b`, '--sign', 'path'];
  const svc = listen(service, words, { SVC_WEBHOOK_SECRET: 'the secret of the program' });
  await vi.waitFor(() => expect(svc.stderr).toContain('the secret in SVC_WEBHOOK_SECRET'), 10_000);
  await service.send('PUT', '/datasets/7', REPORT);
  await vi.waitFor(() => expect(program.received).toHaveLength(1), 5_000);
  const secrets = ['the secret of the program'];
  const [{ headers }] = program.received as [(typeof program.received)[0]];
  expect(await verifyWebhook({ headers, path: '/hook', secrets })).toEqual({ kind: 'verified' });
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
});

test('listen ends without a subscription once nobody reads its output, or its subscription is deleted', async () => {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const unread = listen(service);
  await vi.waitFor(() => expect(unread.stderr).toContain('Listening at'), 10_000);
  unread.child.stdout!.destroy();
  await service.send('PUT', '/datasets/7', REPORT);
  expect(await unread.ended).toMatchObject({ code: 0 });
  expect(await subscriptions(service)).toBe(0);

  const deleted = listen(service);
  await vi.waitFor(() => expect(deleted.stderr).toContain('Listening at'), 10_000);
  const [, id] = /the subscription (\S+)\./.exec(deleted.stderr)!;
  await service.send('DELETE', `/webhooks/${id}`);
  expect(await deleted.end('SIGTERM')).toMatchObject({ code: 0 });
});
