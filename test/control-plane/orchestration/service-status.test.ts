// The body of a status: its fields, what confirms it, and the detail.
import { describe, expect, test } from 'vitest';
import { ROUTES, schemaProblems, type ServiceDescriptor } from '@svc/client';
import { statusOf, type Observed } from '../../../control-plane/orchestration/service-status.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { KEY, desired, workload } from './desired.ts';

const NOW_MS = 1_800_000_000_000;
const current = (more = {}): Observed => ({ observation: workload(more), isCurrent: true });

function status(service: DesiredService, observed: Observed, httpsPort?: number) {
  const body = statusOf(service, observed, {
    nowMs: NOW_MS,
    progressDeadlineMs: 600_000,
    httpsPort,
  });
  expect(schemaProblems(ROUTES.getService.answer, body)).toEqual([]);
  return body;
}

describe('the status of a service', () => {
  test('has what is desired and what was observed', () => {
    const descriptor: ServiceDescriptor = {
      name: 'cart',
      image: 'registry.example/cart:3',
      hosting: 'wasm',
      protocol: '0.2.0',
      instances: 2,
    };
    const exposedHostname = 'cart-web.example.com';
    expect(
      status(desired({ descriptor, exposedHostname }), current({ database: 'provisioned' })),
    ).toEqual({
      name: 'cart',
      projectId: 'web',
      lifecycle: 'ready',
      generation: 3,
      image: 'registry.example/cart:3',
      readyInstances: 2,
      desiredInstances: 2,
      confirmed: true,
      database: 'provisioned',
      hostname: 'https://cart-web.example.com',
      exposed: true,
      suspended: false,
      paused: false,
      hosting: 'wasm',
      protocol: '0.2.0',
    });
  });

  test('leaves out what there is not', () => {
    expect(status(desired(), { observation: undefined, isCurrent: false })).toEqual({
      name: 'cart',
      projectId: 'web',
      lifecycle: 'pending',
      generation: 3,
      image: 'registry.example/cart:3',
      readyInstances: 0,
      desiredInstances: 2,
      confirmed: false,
      exposed: false,
      suspended: false,
      paused: false,
      hosting: 'embedded',
    });
  });

  test('has the port of the installation in the hostname', () => {
    const { hostname } = status(
      desired({ exposedHostname: 'cart-web.localhost' }),
      current(),
      8443,
    );
    expect(hostname).toBe('https://cart-web.localhost:8443');
  });

  test('desires no instance while paused or suspended, and shows those that are stopping', () => {
    for (const flag of [{ isPaused: true }, { isSuspended: true }])
      expect(status(desired({ ...flag, instances: 0 }), current())).toMatchObject({
        desiredInstances: 0,
        readyInstances: 2,
      });
  });

  test('shows the instances of the former generation while a rollout fails', () => {
    const rollout = { kind: 'failed', reason: 'cannot pull it' } as const;
    expect(status(desired(), current({ updatedInstances: 0, rollout }))).toMatchObject({
      lifecycle: 'failed',
      readyInstances: 2,
      detail: 'cannot pull it',
    });
  });

  test('does not count the instances of a deleted service of the name', () => {
    expect(status(desired(), current({ incarnation: 'life0' }))).toMatchObject({
      lifecycle: 'pending',
      readyInstances: 0,
      confirmed: false,
      detail: 'waiting until nothing is left of the deleted service of this name',
    });
  });
});

describe('a status is confirmed', () => {
  test('by a current observation of this generation alone', () => {
    expect(status(desired(), current()).confirmed).toBe(true);
    expect(status(desired(), { ...current(), isCurrent: false }).confirmed).toBe(false);
    expect(status(desired(), current({ generation: 2 })).confirmed).toBe(false);
    expect(status(desired(), current({ generation: 4 })).confirmed).toBe(false);
    const none: Observed = { observation: { kind: 'none', key: KEY }, isCurrent: true };
    expect(status(desired(), none).confirmed).toBe(false);
  });
});

describe('the detail', () => {
  test('quotes the orchestrator on this generation, and not on another one', () => {
    const detail = 'an instance ran out of memory';
    expect(status(desired(), current({ detail })).detail).toBe(detail);
    expect(status(desired(), current({ generation: 2, detail })).detail).toBeUndefined();
  });

  test('says how long a rollout has been without progress, and why', () => {
    const late = { kind: 'progressing', sinceMs: NOW_MS - 600_000 } as const;
    expect(status(desired(), current({ rollout: late })).detail).toBe(
      'the rollout made no progress for 600 s',
    );
    expect(status(desired(), current({ rollout: late, detail: 'no such image' })).detail).toBe(
      'the rollout made no progress for 600 s: no such image',
    );
  });

  test('says that the organization is disabled', () => {
    expect(status(desired({ isSuspended: true, instances: 0 }), current()).detail).toBe(
      'the organization is disabled',
    );
  });

  test('says after the reason of the state that the orchestrator does not answer', () => {
    const problem = 'the orchestrator does not answer';
    const observed = { ...current({ detail: 'slow' }), isCurrent: false, problem };
    expect(status(desired(), observed).detail).toBe('slow; the orchestrator does not answer');
    const silent = { observation: undefined, isCurrent: false, problem };
    expect(status(desired(), silent).detail).toBe(problem);
  });
});
