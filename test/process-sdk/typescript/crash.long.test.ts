// A service whose code ends its process at each attempt: with a command, in a consumer, or in a view. The call is given up in the end, and everything else is
// served.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'crashing-program.ts');

async function startedService(): Promise<{ readonly svc: SvcProcess; readonly url: string }> {
  const command = `'${process.execPath}' '${PROGRAM}'`;
  const own = ['--name', 'notes', '--port', '0', '--data', temporaryFolder()];
  // Pauses are short, and several times longer than the process takes to come back.
  const quick = [
    'consumers.attempts-max=3',
    'consumers.retry-pause-ms=50',

    'supervisor.restart-pause-ms=10',
    'supervisor.restart-pause-max-ms=50',
    'engine.entity-pause-ms=60000',
  ];
  const settings = quick.map((setting) => `--set=svc.${setting}`);
  const svc = new SvcProcess(['run', '--process-command', command, ...own, ...settings]);
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return { svc, url: await svc.listening() };
}

async function written(url: string, id: string, text: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text });
  return (await fetch(`${url}/notes/${id}`, { method: 'POST', headers, body })).status;
}
/** The event is stored; the process may read it, and end, before it has answered this call. */
async function writtenBeforeTheEnd(url: string, id: string, text: string): Promise<void> {
  expect([200, 504]).toContain(await written(url, id, text));
}
async function untilWritten(url: string, id: string): Promise<void> {
  await expect.poll(() => written(url, id, 'harmless'), { timeout: 60_000 }).toBe(200);
}

test('an entity whose command ends the process is held back, and the others are served', async () => {
  const { svc, url } = await startedService();
  for (let attempt = 0; attempt < 3; attempt++) {
    await untilWritten(url, 'other');
    expect(await written(url, 'bad', 'ends the command')).toBe(504);
  }
  await untilWritten(url, 'other');
  expect(await written(url, 'bad', 'harmless')).toBe(503);
  expect(svc.stderr).toMatch(/was lost 3 times in a row during a call of entity 'bad'/);
  expect(await written(url, 'other', 'harmless')).toBe(200);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 120_000);

test('an event that ends the process in a consumer is parked, and the others are served', async () => {
  const { svc, url } = await startedService();
  await writtenBeforeTheEnd(url, 'bad', 'ends the consumer');
  await svc.logged(/parked/);
  await untilWritten(url, 'other');
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 180_000);

test('an event that ends the process in a view stops the view, and everything else is served', async () => {
  const { svc, url } = await startedService();
  await writtenBeforeTheEnd(url, 'bad', 'ends the view');
  await svc.logged(/5 times while it folded view 'shown'/);
  await untilWritten(url, 'other');
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 180_000);
