// Synchronous: returns the result of an entity's call in the sandbox, and asserts that it is not a promise: the sandbox
// answers calls of entities synchronously.
import assert from 'node:assert';
import type { Awaitable } from '@svc/host/tools';

export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
