// A real service of two shards that books transfers, as `fixtures/booked-transfers` says.
import { expect, onTestFinished } from 'vitest';
import { SvcProcess } from '../host-process.ts';

/** Starts the module of `file`. A call that an event's handler makes is tried `attemptsMax` times. */
export async function serveTransfers(
  file: string,
  data: string,
  attemptsMax = 100_000,
): Promise<{ readonly url: string; readonly service: SvcProcess }> {
  const attempts = ['--set', `svc.consumers.attempts-max=${attemptsMax}`];
  const words = ['run', file, '--port', '0', '--data', data, '--shards', '2', ...attempts];
  const service = new SvcProcess(words);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

export async function orderTransfer(url: string, id: string, to: string, cents = 1): Promise<void> {
  const response = await fetch(`${url}/transfers/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, cents }),
  });
  expect(response.status).toBe(204);
}

export async function account(
  url: string,
  id: string,
): Promise<{ readonly cents: number; readonly bookings: number }> {
  return (await (await fetch(`${url}/accounts/${id}`)).json()) as never;
}

export const bookings = async (url: string, id: string): Promise<number> =>
  (await account(url, id)).bookings;

export const TRANSFERS = Array.from({ length: 12 }, (_, index) => `t${index}`);
export const ACCOUNTS = Array.from({ length: 5 }, (_, index) => `a${index}`);
