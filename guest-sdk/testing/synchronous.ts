// The sandbox answers an entity's calls at once: nothing in them may wait.
import assert from 'node:assert';
import type { Awaitable } from '@svc/host/tools';

export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
