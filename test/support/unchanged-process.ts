// What a test file may not leave in its process, because the next file runs in the same one (vitest.config.ts). Runs
// before each file. When the file has ended, it puts back what vitest can put back, and fails the file for the rest:
// environment variables, the working folder, listeners of the process, and globals that are others than before.
import { afterAll, vi } from 'vitest';

function listeners(): ReadonlyMap<string, number> {
  // A module that ends its child processes at the exit is loaded once, and listens from then on.
  const events = process
    .eventNames()
    .filter((event) => event !== 'exit' && process.listenerCount(event) > 0);
  return new Map(events.map((event) => [String(event), process.listenerCount(event)]));
}

/** The globals that are values already, and not made at their first use. */
function globals(): ReadonlyMap<string, unknown> {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(globalThis));
  return new Map(
    descriptors.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])),
  );
}

function processState(): Readonly<Record<string, ReadonlyMap<string, unknown>>> {
  return {
    environment: new Map(Object.entries(process.env)),
    listeners: listeners(),
    globals: globals(),
    folder: new Map([['current', process.cwd()]]),
  };
}

/** The names in `before` that have another value in `after`; without `isOpen`, also those that are new. */
function changed(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  isOpen: boolean,
): readonly string[] {
  const names = new Set([...before.keys(), ...(isOpen ? [] : after.keys())]);
  return [...names].filter((name) => !Object.is(before.get(name), after.get(name)));
}

const before = processState();

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  const changes = Object.entries(processState()).flatMap(([kind, after]) =>
    // Libraries bring globals of their own, and are loaded once.
    changed(before[kind]!, after, kind === 'globals').map((name) => `${kind}: ${name}`),
  );
  if (changes.length > 0)
    throw new Error(
      `the next file uses this process, in which these differ: ${changes.join(', ')}`,
    );
});
