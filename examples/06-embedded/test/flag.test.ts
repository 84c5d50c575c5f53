// The flags in a service of their own, with a journal in memory.
import { createService } from '@svc/host';
import { describe, expect, onTestFinished, test } from 'vitest';
import { components } from '../src/components.ts';
import { flag } from '../src/flag.ts';

async function flags() {
  const service = await createService({
    name: 'flags',
    ...components,
    journal: 'memory',
    http: { port: 0 },
    log: 'none',
  });
  onTestFinished(() => service.stop());
  return service;
}

describe('a flag', () => {
  test('begins with nobody, and remembers every change', async () => {
    const service = await flags();
    const search = service.call(flag, 'new-search');
    expect(await search.get()).toMatchObject({ isOk: true, value: { percentage: 0 } });
    await search.change({ percentage: 10, reason: 'a first look' });
    await search.change({ percentage: 100, reason: 'it works' });
    const events = await service.readEvents(flag, 'new-search');
    expect(events.map(({ event }) => event)).toEqual([
      { type: 'changed', percentage: 10, reason: 'a first look' },
      { type: 'changed', percentage: 100, reason: 'it works' },
    ]);
  });

  test('does not begin with everybody', async () => {
    const service = await flags();
    const answer = await service.call(flag, 'risky').change({ percentage: 100, reason: 'why not' });
    expect(answer).toMatchObject({ isOk: false, code: 'CONFLICT' });
  });

  test('answers over HTTP, here without a socket', async () => {
    const service = await flags();
    const response = await service.fetch('/flags/new-search');
    expect(await response.json()).toMatchObject({ percentage: 0 });
  });

  test('says over HTTP what does not fit', async () => {
    const { url } = await flags();
    const response = await fetch(`${url}/flags/new-search`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"percentage":110,"reason":"more"}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      status: 400,
      error: 'percentage: must be an integer from 0 to 100, found 110',
    });
  });
});
