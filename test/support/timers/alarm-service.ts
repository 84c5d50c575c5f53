// A real service of two shards whose alarms ring, as `fixtures/alarms` says.
import { expect, onTestFinished } from 'vitest';
import { SvcProcess } from '../host-process.ts';

export async function serveAlarms(
  file: string,
  data: string,
): Promise<{ readonly url: string; readonly service: SvcProcess }> {
  const service = new SvcProcess(['run', file, '--port', '0', '--data', data, '--shards', '2']);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

/** Sets an alarm to ring in `ms` milliseconds. `path`: its id, or `ID/other` or `ID/soon`. */
export async function setAlarm(url: string, path: string, ms: number): Promise<void> {
  const body = JSON.stringify({ ms });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/alarms/${path}`, { method: 'PUT', headers, body });
  expect(response.status).toBe(204);
}

/** Returns how often an alarm has rung. */
export async function rung(url: string, id: string): Promise<number> {
  const response = await fetch(`${url}/alarms/${id}`);
  return ((await response.json()) as { rung: number }).rung;
}

export const ALARMS = Array.from({ length: 12 }, (_, index) => `a${index}`);
