// How a test fails: with a message that says where and with what, a difference that editors can
// show, and a stack that begins at the test's own line.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';
import { expect } from 'vitest';
import { parsed } from './json-value.ts';

/** A function of the kit that a test calls: its frames, and those below, are not shown. */
// oxlint-disable-next-line typescript/no-unsafe-function-type -- as Error.captureStackTrace takes it
export type Door = Function;

const SHOWN_MAX = 300;

/** A wrong use of the kit, or something that went wrong where nothing was expected. */
export class TestFailure extends Error {
  constructor(message: string, door: Door) {
    super(message);
    this.name = 'TestFailure';
    Error.captureStackTrace(this, door);
  }
}

/** Lets an error point at where `site` was made: what lies behind a promise is none of a test's lines. */
export function restacked<E extends Error>(error: E, site: Error): E {
  const frames = (site.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n');
  return error;
}

/** Fails with the difference when the two are not equal. `message` says what they are. */
export function expectEqual(actual: unknown, expected: unknown, message: string, door: Door): void {
  try {
    expect(actual).toEqual(expected);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    error.message = message;
    Error.captureStackTrace(error, door);
    throw error;
  }
}

/** Text of a module on one line or more, without what a terminal would act on. */
export function shown(text: string, lengthMax = SHOWN_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  return cut
    .toWellFormed()
    .replaceAll(HARMFUL_CHARACTERS, (character) =>
      character === '\n' || character === '\t' ? character : escapedCharacter(character),
    );
}

/** Each event by its `type`, for messages. */
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
