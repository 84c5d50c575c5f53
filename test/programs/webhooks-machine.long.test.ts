// docs/how-to/using-webhooks.md as a new user follows it: svc up --webhooks, and deliveries through the gateway.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { snippetsOf } from '../support/doc-snippets.ts';
import { freePorts } from '../support/free-ports.ts';
import { SvcProcess } from '../support/host-process.ts';
import { OneMachine } from '../support/one-machine.ts';

const PAGE = 'docs/how-to/using-webhooks.md';
const [start, report] = snippetsOf(PAGE, 'sh').map(({ code }) => code.trim().split('\n'));

test('a stranger gets a verified delivery with the commands of the page', async () => {
  expect(start).toEqual(['svc up -d --webhooks', 'svc login', 'svc webhooks listen']);
  const dataset = report!.slice(1, -2).join('\n');
  expect([report![0], ...report!.slice(-2)]).toEqual([
    "cat > dataset.json <<'JSON'",
    'JSON',
    'svc webhooks report 7 -f dataset.json',
  ]);
  const machine = await OneMachine.make();
  const [port] = await freePorts(1);
  await machine.upInBackground('--webhooks', '--webhooks-port', String(port));
  writeFileSync(join(machine.cwd, 'dataset.json'), dataset);
  const env = { ...machine.env, SVC_TENANT: 'local' };
  const listen = new SvcProcess(['webhooks', 'listen'], { cwd: machine.cwd, env });
  onTestFinished(async () => void (await listen.end('SIGKILL')));
  await vi.waitFor(() => expect(listen.stderr).toContain('Listening at'), 10_000);

  expect(await machine.svc('webhooks report 7 -f dataset.json --tenant local')).toMatch(
    /^event +evt_/,
  );
  await vi.waitFor(() => expect(listen.stdout).toContain('verified, answered 204'), 5_000);
  await vi.waitFor(
    async () =>
      expect(await machine.svc('webhooks deliveries --tenant local')).toMatch(/ 7 +delivered /),
    10_000,
  );
  const log = await machine.svc('webhooks list --tenant other').catch(String);
  expect(log).toContain('there is no such tenant, or you are not a member of it');
  const console = new SvcProcess(['console', '--port', '0'], { cwd: machine.cwd, env });
  onTestFinished(async () => void (await console.end('SIGKILL')));
  const shown = await fetch(`${await console.listening()}/api/webhooks/deliveries?dataset=7`);
  expect(await shown.json()).toMatchObject({ entries: [{ outcome: 'delivered' }] });
  expect(await listen.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(await machine.svc('webhooks list --tenant local')).toContain('has no subscriptions');

  // Without the flag nothing of it runs, and its data is kept.
  await machine.run('down');
  await machine.upInBackground();
  const without = await machine.svc('webhooks list --tenant local').catch(String);
  expect(without).toContain('svc up --webhooks');
  expect(
    readFileSync(join(machine.folder, 'webhook-service', 'development-master-key')),
  ).not.toHaveLength(0);
}, 90_000);

test('with a PostgreSQL server, the webhook service has everything in a database of its own, and keeps it', async () => {
  const machine = await OneMachine.make();
  const [port] = await freePorts(1);
  const words = ['--webhooks', '--webhooks-port', String(port)];
  await machine.upInBackground(...words, '--postgres');
  const create = 'webhooks create https://hooks.example.com/svc --tenant local';
  expect(await machine.svc(create)).toContain('hooks.example.com');
  const folder = join(machine.folder, 'webhook-service');
  expect(readdirSync(folder).toSorted()).toEqual(['database.url', 'development-master-key']);
  await machine.run('down');

  // The server, and with it the database, is there without being asked for.
  await machine.upInBackground(...words);
  expect(await machine.svc('webhooks list --tenant local')).toContain('hooks.example.com');
}, 180_000);

test('a webhook service that has stored something in its folder stays there', async () => {
  const machine = await OneMachine.make();
  const [port] = await freePorts(1);
  const words = ['--webhooks', '--webhooks-port', String(port)];
  await machine.upInBackground(...words);
  await machine.svc('webhooks create https://hooks.example.com/svc --tenant local');
  await machine.run('down');
  await machine.upInBackground(...words, '--postgres');
  expect(await machine.svc('webhooks list --tenant local')).toContain('hooks.example.com');
  expect(readdirSync(join(machine.folder, 'webhook-service'))).toContain('tenants');
}, 180_000);
