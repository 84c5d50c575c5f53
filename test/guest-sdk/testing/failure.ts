// Failure: the error that a call of the test kit throws, and whether its stack begins in the test.
import { expect } from 'vitest';

export interface Failure {
  readonly message: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

export function failureOf(call: () => unknown): Failure {
  try {
    call();
  } catch (error) {
    return checked(error);
  }
  throw new Error('it did not fail');
}

export async function laterFailureOf(call: () => Promise<unknown>): Promise<Failure> {
  try {
    await call();
  } catch (error) {
    return checked(error);
  }
  throw new Error('it did not fail');
}

function checked(error: unknown): Failure {
  const { message, stack, actual, expected } = error as Error & Partial<Failure>;
  const first = stack!.split('\n').find((line) => /^\s+at /.test(line));
  expect(first).toMatch(/test[/\\]guest-sdk[/\\]testing[/\\][a-z-]+(\.long)?\.test\.ts:\d+/);
  expect(stack).not.toMatch(/guest-sdk\/testing\/(?!.*test\.ts|failure\.ts)/m);
  return { message, actual, expected };
}
