// TestingOptions replace the time, the random numbers and the journal of a service in a test. A deployed program cannot have them, and the log
// says of any service that has them.
import type { RandomSource, ServiceClock } from '../engine/needs/clock.ts';
import type { TestJournal } from '../storage/memory/test-journal.ts';
import type { ServiceLog } from './service-log.ts';

/** For tests alone. */
export interface TestingOptions {
  /**
   * The clock by which the service records times and waits, such as a `VirtualClock` of `@svc/host/testing`. Sockets, requests of
   * other services, metrics, spans and the log keep the machine's. Default: the machine's.
   */
  readonly clock?: ServiceClock;
  /** Source of the seeds of handlers, of ids and of the pauses before retries, such as `new SeededRandom(7n)`. Default: the machine's. */
  readonly random?: RandomSource;
  /**
   * A journal in memory, whose writes fail when the test wants, and which a further service can open after a crash. It goes with
   * `journal: 'memory'`. Default: a journal of the service's own.
   */
  readonly journal?: TestJournal;
}

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  clock: ['nowMs', 'monotonicMs', 'after'],
  random: ['next64'],
  journal: ['open'],
};

/** Returns the problem of the option `testing`, which a program in JavaScript may set to anything; undefined: there is none. */
export function testingProblem(testing: TestingOptions | undefined): string | undefined {
  if (testing === undefined) return undefined;
  for (const [name, value] of Object.entries(testing) as [string, unknown][]) {
    const methods = MEMBERS[name];
    if (methods === undefined)
      return `testing takes ${Object.keys(MEMBERS).join(', ')}, and found ${name}`;
    const missing = methods.find((method) => !hasMethod(value, method));
    if (value !== undefined && missing !== undefined)
      return `testing.${name} takes an object with ${methods.join(', ')}, and found none with ${missing}`;
  }
  return undefined;
}

/** Writes that the service is one of a test. */
export function logTesting(testing: TestingOptions | undefined, log: ServiceLog): void {
  if (testing === undefined) return;
  log.write(
    'warn',
    'this service is for a test: its time, its random numbers or its journal are not real',
    {
      testing: Object.keys(testing).join(' '),
    },
  );
}

function hasMethod(value: unknown, name: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'
  );
}
