// FaultLine: one line for the fault of a module, a program or a process.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultLine } from '../../../host/history/fault-line.ts';
import { GuestFault } from '../../../model/guest-fault.ts';

const lineOf = (guestMessage: string | undefined) =>
  faultLine(new GuestFault('trap', 'apply of component', { guestMessage }));

test('the words of a module are not changed, and a fault without words has no line', () => {
  expect(lineOf('abort: no\nsuch item at assembly/cart.ts:12:3')).toBe(
    'abort: no\nsuch item at assembly/cart.ts:12:3',
  );
  expect(lineOf(undefined)).toBeUndefined();
});

test('a stack of JavaScript ends in the line of the program, with its path in the working folder', () => {
  const own = join(process.cwd(), 'src/cart.ts');
  const stack = [
    'TypeError: x is\n  undefined',
    '    at parse (node:internal/modules/loader:10:20)',
    `    at read (${join(process.cwd(), 'node_modules/a/index.js')}:1:2)`,
    `    at Object.apply (${own}:31:5)`,
  ].join('\n');
  expect(lineOf(stack)).toBe('TypeError: x is undefined at src/cart.ts:31:5');
  expect(lineOf(stack.replaceAll(`${process.cwd()}/`, 'file:///other/'))).toBe(
    'TypeError: x is undefined at /other/src/cart.ts:31:5',
  );
});

test('a traceback of Python ends in its innermost line outside of libraries', () => {
  const traceback = [
    'Traceback (most recent call last):',
    '  File "/srv/sdk/dist-packages/svc/entity.py", line 90, in apply',
    '    return self._apply(state, event)',
    '  File "/srv/cart.py", line 12, in apply',
    '    raise ValueError("no such item")',
    'ValueError: no such item',
    '',
  ].join('\n');
  expect(lineOf(traceback)).toBe('ValueError: no such item at /srv/cart.py:12');
  expect(lineOf('Traceback (most recent call last):\nMemoryError')).toBe('MemoryError');
});
