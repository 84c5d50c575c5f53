// TestFailure: the errors with which the test kit fails a test. Their stack begins at the test's own line. Where values
// are compared, the error is vitest's own, with a difference that editors can display.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';
import { expect } from 'vitest';
import { parsed } from './json-value.ts';

/** The function of the test kit that a test called. The stack of a failure begins at its call, the test's own line. */
// oxlint-disable-next-line typescript/no-unsafe-function-type -- as Error.captureStackTrace takes it
export type StackStart = Function;

const SHOWN_MAX = 300;

/** A wrong use of the test kit, a failure that the test did not expect, or an expectation without values to compare. */
export class TestFailure extends Error {
  constructor(message: string, stackStart: StackStart) {
    super(message);
    this.name = 'TestFailure';
    Error.captureStackTrace(this, stackStart);
  }
}

/** Replaces the stack of an error by that of `site`, since the stack after a promise has no line of the test. */
export function restacked<E extends Error>(error: E, site: Error): E {
  const frames = (site.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n');
  return error;
}

/** Fails with `message` and the difference if the values are not equal. */
export function expectEqual(
  actual: unknown,
  expected: unknown,
  message: string,
  stackStart: StackStart,
): void {
  try {
    expect(actual).toEqual(expected);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    error.message = message;
    Error.captureStackTrace(error, stackStart);
    throw error;
  }
}

/** Returns a text, shortened to `lengthMax` code units, with harmful characters except line feeds and tabs escaped. */
export function shown(text: string, lengthMax = SHOWN_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  return cut
    .toWellFormed()
    .replaceAll(HARMFUL_CHARACTERS, (character) =>
      character === '\n' || character === '\t' ? character : escapedCharacter(character),
    );
}

/** Returns the types of the first ten events, for messages. An event without a type is shown as its JSON. */
export function typesOf(events: readonly { readonly json: string }[]): string {
  if (events.length === 0) return 'no events';
  const types = events.map(({ json }) => {
    const event = parsed(json) as { readonly type?: unknown };
    return shown(typeof event.type === 'string' ? event.type : json, 60);
  });
  return types.length > 10
    ? `${types.slice(0, 10).join(', ')} and ${types.length - 10} more`
    : types.join(', ');
}
