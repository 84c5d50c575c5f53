// A node compares its code with the one that runs before it joins, as far as its settings say.
import type { ModuleDescriptor } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { rollingCheck } from '../../../host/service/rolling-check.ts';
import { UPGRADE_DEFAULT } from '../../../host/service/upgrade-settings.ts';
import { journalInDatabase } from '../../../host/storage/journal-location.ts';

const TEXT = { type: 'string' } as const;
const location = journalInDatabase({ kind: 'environment', variable: 'CART_DATABASE' });

/** A version with these components. */
function version(...components: readonly string[]): ModuleDescriptor {
  return {
    protocol: '0.2.0',
    sdk: { name: 'test', version: '1' },
    types: {},
    entities: components.map((component) => ({
      component,
      state: { manifest: 'State', schema: TEXT },
      event: { manifest: 'Event', schema: TEXT },
      commands: [],
      queries: [],
    })),
    endpoints: [],
  };
}

interface Given {
  readonly check?: boolean;
  readonly allow?: readonly string[];
  readonly ignoreComponents?: readonly string[] | undefined;
  readonly running?: string;
}

/** Compares a version that has only carts with one that has carts and orders. */
function compare({
  check = true,
  allow = [],
  ignoreComponents = [],
  running = JSON.stringify(version('cart')),
}: Given): void {
  const upgrade = { ...UPGRADE_DEFAULT, check, allow };
  const now = { descriptor: version('cart', 'order') };
  rollingCheck(now, { location, upgrade, ignoreComponents })({
    fingerprint: 'running',
    descriptor: running,
    machine: 'there',
  });
}

describe('a version that the other one does not understand', () => {
  test('is refused, and the message says what it is, and what to do', () => {
    expect(() => compare({})).toThrow(
      expect.objectContaining({
        code: 'SVC_UPGRADE_UNSAFE',
        message:
          'This version cannot run beside the one that uses the database whose URL is in the environment variable CART_DATABASE: ' +
          "rolling-component-missing (order): the running version has no component 'order': its nodes fail calls of it, and do not start " +
          'again once it has events. Change the service in several steps, stop all nodes before this one starts, or accept findings that ' +
          'are meant with allow in its descriptor, or svc.upgrade.allow.',
      }),
    );
  });

  test.each<readonly [string, Given]>([
    ['it is allowed', { allow: ['rolling-component-missing'] }],
    ['it is allowed for the component', { allow: ['rolling-component-missing:order'] }],
    ['the component was dropped on purpose', { ignoreComponents: ['order'] }],
    ['no comparison is asked for', { check: false }],
  ])('runs if %s', (_when, given) => {
    expect(() => compare(given)).not.toThrow();
  });

  test.each<readonly [string, Given]>([
    ['something else is allowed', { allow: ['rolling-event-unread'] }],
    ['it is allowed for another component', { allow: ['rolling-component-missing:cart'] }],
    ['all events that nobody reads are ignored', { ignoreComponents: undefined }],
  ])('is refused if %s', (_when, given) => {
    expect(() => compare({ allow: [], ...given })).toThrow('cannot run beside');
  });
});

test('a version that cannot be read is refused, unless no comparison is asked for', () => {
  expect(() => compare({ running: '{"protocol":"9.0.0"}' })).toThrow(
    expect.objectContaining({
      code: 'SVC_UPGRADE_UNSAFE',
      message: expect.stringContaining('cannot be compared: this svc does not read its descriptor'),
    }),
  );
  expect(() => compare({ running: '{"protocol":"9.0.0"}', check: false })).not.toThrow();
});
