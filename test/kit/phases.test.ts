// Phases start in order and stop in reverse order, whatever fails, and whenever the stop is asked for.
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Phase, Phases } from '../../kit/phases.ts';

/** Phases that note what they are asked for; `changed` replaces parts of a phase. */
function noted(names: readonly string[], changed: Readonly<Record<string, Phase>> = {}) {
  const events: string[] = [];
  const phases = new Phases(
    names.map((name): Phase => {
      const phase = changed[name];
      return {
        start: (signal) => {
          events.push(`start ${name}`);
          return phase?.start?.(signal);
        },
        stop: () => {
          events.push(`stop ${name}`);
          return phase?.stop?.();
        },
      };
    }),
  );
  return { phases, events };
}

const failing = (reason: string) => async (): Promise<void> => {
  throw new Error(reason);
};

test('phases start one after the other, and stop in reverse order', async () => {
  const first = Promise.withResolvers<void>();
  const last = Promise.withResolvers<void>();
  const { phases, events } = noted(['a', 'b'], {
    a: { start: () => first.promise },
    b: { stop: () => last.promise },
  });
  const started = phases.start();
  expect(events).toEqual(['start a']);
  first.resolve();
  await started;
  expect(events).toEqual(['start a', 'start b']);
  const stopped = phases.stop();
  expect(events).toEqual(['start a', 'start b', 'stop b']);
  last.resolve();
  await stopped;
  expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a']);
});

test('a phase may have nothing to start, or nothing to stop', async () => {
  const events: string[] = [];
  const phases = new Phases([
    { stop: () => void events.push('stop') },
    { start: () => void events.push('start') },
  ]);
  await phases.start();
  await phases.stop();
  expect(events).toEqual(['start', 'stop']);
});

test('a second start or stop waits for the first', async () => {
  const { phases, events } = noted(['a']);
  await Promise.all([phases.start(), phases.start()]);
  await Promise.all([phases.stop(), phases.stop()]);
  await phases.start();
  expect(events).toEqual(['start a', 'stop a']);
});

test('what has not begun is not stopped', async () => {
  const { phases, events } = noted(['a']);
  await phases.stop();
  await phases.start();
  expect(events).toEqual([]);
});

describe('a phase that fails to start', () => {
  test('gives its reason, and it and those before it are stopped', async () => {
    const { phases, events } = noted(['a', 'b', 'c'], { b: { start: failing('no address') } });
    await expect(phases.start()).rejects.toThrow('no address');
    expect(events).toEqual(['start a', 'start b']);
    await phases.stop();
    expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  test('throws as it rejects', async () => {
    const thrown = noted(['a', 'b'], {
      a: {
        start: () => {
          throw new Error('at once');
        },
      },
    });
    await expect(thrown.phases.start()).rejects.toThrow('at once');
    await thrown.phases.stop();
    expect(thrown.events).toEqual(['start a', 'stop a']);
  });
});

describe('a stop that fails', () => {
  test('lets the others stop, and is the first failure that is given', async () => {
    const { phases, events } = noted(['a', 'b', 'c'], {
      a: { stop: failing('second') },
      c: { stop: failing('first') },
    });
    await phases.start();
    await expect(phases.stop()).rejects.toThrow('first');
    expect(events.slice(3)).toEqual(['stop c', 'stop b', 'stop a']);
  });
});

describe('a stop that is asked for during a start', () => {
  test('ends the start by its signal, stops the phase after that, and starts no other', async () => {
    const { phases, events } = noted(['a', 'b', 'c'], {
      b: {
        start: async (signal) => {
          await once(signal, 'abort');
          events.push('b was told');
        },
      },
    });
    const started = phases.start();
    await Promise.resolve();
    expect(events).toEqual(['start a', 'start b']);
    await phases.stop();
    await started;
    expect(events).toEqual(['start a', 'start b', 'b was told', 'stop b', 'stop a']);
  });

  test('by the phase that starts waits for it, too', async () => {
    const opening = Promise.withResolvers<void>();
    const stopped: Promise<void>[] = [];
    const { phases, events } = noted(['a', 'b'], {
      a: {
        start: () => {
          stopped.push(phases.stop());
          return opening.promise;
        },
      },
    });
    const started = phases.start();
    await new Promise(setImmediate);
    expect(events).toEqual(['start a']);
    opening.resolve();
    await Promise.all([started, ...stopped]);
    expect(events).toEqual(['start a', 'stop a']);
  });

  test('waits for a start that cannot be ended', async () => {
    const opening = Promise.withResolvers<void>();
    const { phases, events } = noted(['a', 'b'], { a: { start: () => opening.promise } });
    const started = phases.start();
    const stopped = phases.stop();
    await new Promise(setImmediate);
    expect(events).toEqual(['start a']);
    opening.resolve();
    await Promise.all([started, stopped]);
    expect(events).toEqual(['start a', 'stop a']);
  });

  test('gives a failure of that start to who started, and none to who stops', async () => {
    const { phases, events } = noted(['a'], {
      a: {
        start: async (signal) => {
          await once(signal, 'abort');
          throw new Error('interrupted');
        },
      },
    });
    const started = phases.start();
    const outcomes = await Promise.allSettled([started, phases.stop()]);
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { message: 'interrupted' } },
      { status: 'fulfilled' },
    ]);
    expect(events).toEqual(['start a', 'stop a']);
  });
});
