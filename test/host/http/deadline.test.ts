// The deadline of a request: its handler is cancelled, and its later failure is logged.
import { describe, expect, test } from 'vitest';
import type { GuestFault } from '../../../model/guest-fault.ts';
import { ask, descriptorOf, gate, get, ok, RawClient, start } from './http-harness.ts';

const descriptor = descriptorOf([['GET', '/{x}']]);
const LATE = { faultCause: 'time', limit: 'request-time' };

/** A server whose handlers end only when they are cancelled. */
async function startWaiting(answerTimeoutMs: number) {
  const reasons: GuestFault[] = [];
  const begun = gate();
  const running = await start({
    descriptor,
    settings: { answerTimeoutMs, requestsInFlightMax: 1 },
    handle: (_request, _metadata, waiter) =>
      new Promise((_resolve, reject) => {
        begun.open();
        waiter.cancel = (reason) => {
          reasons.push(reason);
          reject(reason);
        };
      }),
  });
  return { ...running, reasons, begun };
}

describe('at the deadline of a request', () => {
  test('its handler is cancelled, and is no longer in flight when it ends', async () => {
    const { port, reasons } = await startWaiting(20);
    for (let time = 1; time <= 3; time++) {
      expect((await ask(port, get('/a'))).status).toBe(504);
      expect(reasons).toHaveLength(time);
    }
    expect(reasons[0]).toMatchObject(LATE);
  });

  test('the log has the answer and the limit under one error id', async () => {
    const { port, lines } = await startWaiting(20);
    await ask(port, get('/a'));
    await expect.poll(() => lines.length).toBe(2);
    expect(lines.map(({ fields }) => [fields.code, fields.limit])).toEqual([
      ['SVC_ANSWER_TIMED_OUT', undefined],
      ['time', 'request-time'],
    ]);
    expect(lines[0]!.fields.errorId).toBe(lines[1]!.fields.errorId);
    // The response counts towards the limit, whether the handler ends or not, and is not counted again when it ends.
    expect(lines[0]!.fields.err).toHaveProperty('cause', lines[1]!.fields.err);
  });

  test('its handler is cancelled even if the caller has disconnected before', async () => {
    const { port, reasons, begun } = await startWaiting(200);
    const client = new RawClient(port).send(get('/a'));
    await begun.passed;
    client.socket.destroy();
    await expect.poll(() => reasons).toMatchObject([LATE]);
    expect((await ask(port, get('/b'))).status).toBe(504);
  });

  test('a handler that has ended is not cancelled', async () => {
    let told = 0;
    const { port } = await start({
      descriptor,
      settings: { answerTimeoutMs: 20 },
      handle: (request, _metadata, waiter) => {
        waiter.cancel = () => told++;
        return request.parameters[0] === 'late' ? new Promise(() => {}) : Promise.resolve(ok());
      },
    });
    expect((await ask(port, get('/done'))).status).toBe(200);
    // This request came later, so the deadline of the first has passed too.
    expect((await ask(port, get('/late'))).status).toBe(504);
    expect(told).toBe(1);
  });
});
