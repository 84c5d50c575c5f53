// Synchronous: asserts that a call of the sandbox has its result immediately, which is so for calls of entities.
import assert from 'node:assert';
import type { Awaitable } from '@svc/host/tools';

export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
