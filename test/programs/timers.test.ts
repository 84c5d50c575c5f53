// Timers of a module that runs as a service of two shards: they are fired in the shard of their target, after a kill too, and
// each once.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** An alarm rings after the milliseconds that it is set to, and as often as it was told to by another alarm. */
const ALARMS = `import { Context, Done, Due, Effect, EventSourcedEntity, Result, Timers, register } from "@svc/guest-sdk";
@data class Delay { ms: i32 = 0; }
@data class State { rung: i32 = 0; }
@data("alarm-event") abstract class AlarmEvent {}
@variant("set") class WasSet extends AlarmEvent {}
@variant("rung") class Rung extends AlarmEvent {}
@entity("alarm") class Alarm extends EventSourcedEntity<State, AlarmEvent> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: AlarmEvent): State {
    if (event instanceof Rung) state.rung += 1;
    else if (event instanceof WasSet) return state;
    return state;
  }
  @command("set") set(state: State, delay: Delay, context: Context): Effect<Done> {
    return this.persist(new WasSet()).thenSetTimer("ring", Due.after(delay.ms), AlarmCall.ring(context.entityId)).thenReply(new Done());
  }
  @command("wake-other") wakeOther(state: State, delay: Delay, context: Context): Effect<Done> {
    return this.persist(new WasSet()).thenSetTimer("other", Due.after(delay.ms), AlarmCall.ring("other-" + context.entityId)).thenReply(new Done());
  }
  @command("ring") ring(state: State): Effect<Done> {
    return this.persist(new Rung()).thenReply(new Done());
  }
  @query("get") get(state: State): State { return state; }
}
@endpoint("/alarms/{id}") @access("internet") class Alarms {
  @put set(id: string, delay: Delay): Result<Done> { return new AlarmClient(id).set(delay); }
  @put("/other") wakeOther(id: string, delay: Delay): Result<Done> { return new AlarmClient(id).wakeOther(delay); }
  @put("/soon") soon(id: string, delay: Delay): Result<Done> { return Timers.set("soon", Due.after(delay.ms), AlarmCall.ring(id)); }
  @get get(id: string): Result<State> { return new AlarmClient(id).get(); }
}
register<Alarm>();
register<Alarms>();
`;

const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
const module = join(folder, 'alarms.wasm');

beforeAll(async () => {
  const entryFile = join(folder, 'index.ts');
  writeFileSync(entryFile, ALARMS);
  writeFileSync(module, (await buildComponent({ entryFile })).component);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(data: string): Promise<{ url: string; service: SvcProcess }> {
  const words = ['run', module, '--port', '0', '--data', data, '--shards', '2'];
  const service = new SvcProcess(words);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

async function put(url: string, path: string, ms: number): Promise<void> {
  const body = JSON.stringify({ ms });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/alarms/${path}`, { method: 'PUT', headers, body });
  expect(response.status).toBe(204);
}

async function rung(url: string, id: string): Promise<number> {
  const response = await fetch(`${url}/alarms/${id}`);
  return ((await response.json()) as { rung: number }).rung;
}

const IDS = Array.from({ length: 12 }, (_, index) => `a${index}`);

test('timers of commands and handlers are fired, whichever shard has set them', async () => {
  const { url } = await serve(join(temporaryFolder(), 'data'));
  for (const id of IDS) {
    await put(url, id, 10);
    await put(url, `${id}/other`, 10);
    await put(url, `${id}/soon`, 10);
  }
  for (const id of IDS) {
    await expect.poll(() => rung(url, id), { timeout: 20_000 }).toBe(2);
    await expect.poll(() => rung(url, `other-${id}`), { timeout: 20_000 }).toBe(1);
  }
});

test('timers that are due while the service is not there are fired once it is, and once only', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(data);
  for (const id of IDS) await put(first.url, id, 500);
  await first.service.end('SIGKILL');
  const second = await serve(data);
  for (const id of IDS) await expect.poll(() => rung(second.url, id), { timeout: 20_000 }).toBe(1);
  await second.service.end('SIGKILL');
  const third = await serve(data);
  await put(third.url, 'last', 10);
  await expect.poll(() => rung(third.url, 'last'), { timeout: 20_000 }).toBe(1);
  for (const id of IDS) expect(await rung(third.url, id)).toBe(1);
});

test('a service with timers stops when it is asked to', async () => {
  const { url, service } = await serve(join(temporaryFolder(), 'data'));
  await put(url, 'a', 3_600_000);
  await put(url, 'b', 1);
  await expect.poll(() => rung(url, 'b'), { timeout: 20_000 }).toBe(1);
  const { code } = await service.end('SIGTERM');
  expect(code).toBe(0);
});

test('timers are counted for the metrics', async () => {
  const { svc, management } = await startDeployed(module, join(temporaryFolder(), 'data'));
  const url = await svc.listening();
  const metrics = async () => (await fetch(`${management}/svc/metrics`)).text();
  expect(await metrics()).toContain('\nsvc_timers{state="pending"} 0\n');
  for (const id of IDS) await put(url, id, 3_600_000);
  const pending = `\nsvc_timers{state="pending"} ${IDS.length}\n`;
  await expect.poll(metrics, { timeout: 20_000 }).toContain(pending);
});

test('a service with timers that cannot listen ends', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(data);
  await put(first.url, 'a', 3_600_000);
  await first.service.end('SIGKILL');
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const words = ['run', module, '--port', String(port), '--data', data, '--shards', '1'];
  const second = new SvcProcess(words);
  onTestFinished(async () => void (await second.end('SIGKILL')));
  expect((await second.ended).code).toBe(1);
});
