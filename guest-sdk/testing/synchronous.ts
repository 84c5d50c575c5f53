// Synchronous: returns the result of a call of the sandbox, and asserts that it is there without waiting, as the results
// of entities are.
import assert from 'node:assert';
import type { Awaitable } from '@svc/host/tools';

export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
