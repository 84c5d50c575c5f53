// One request shows for all services whether the API server answers. It has its own limit, and ends with the orchestrator.
import { expect, test } from 'vitest';
import { ApiContact } from '../../../control-plane/kubernetes/api-contact.ts';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';

const never = new AbortController().signal;

/** Returns a contact with a server that never answers. */
function silentContact(timeoutMs: number) {
  const signals: AbortSignal[] = [];
  const contact = new ApiContact({
    confirmCluster: (signal) => {
      signals.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
    clock: SYSTEM_CLOCK,
    ageMaxMs: 5000,
    timeoutMs,
  });
  return { contact, signals };
}

test('a server that is silent for the time is not there, and is asked again', async () => {
  const { contact, signals } = silentContact(10);
  expect(await Promise.all([contact.isThere(never), contact.isThere(never)])).toEqual([
    false,
    false,
  ]);
  expect(signals.length).toBe(1);
  expect(await contact.isThere(never)).toBe(false);
  expect(signals.length).toBe(2);
});

test('a request that is under way ends with the orchestrator', async () => {
  const { contact, signals } = silentContact(3_600_000);
  const asked = contact.isThere(never);
  contact[Symbol.dispose]();
  expect(await asked).toBe(false);
  expect(signals[0]!.aborted).toBe(true);
});
