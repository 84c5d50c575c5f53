// TestedConfiguration: the values that a test gives as the configuration of a module. They are judged as those of an operator, except
// that a test which gives none need not give those that have no default.
import { configurationJson, configurationProblems } from '@svc/contract';
import { CurrentConfiguration } from '@svc/host/tools';
import type { ModuleUnderTest } from './module-under-test.ts';
import { type StackStart, TestFailure } from './test-failure.ts';

type Values = Readonly<Record<string, unknown>>;

/** Throws a TestFailure with all problems of the values. */
export function checkConfiguration(
  { descriptor, name }: ModuleUnderTest,
  values: Values | undefined,
  stackStart: StackStart,
): void {
  if (values === undefined) return;
  const problems = configurationProblems(mapOf(values), descriptor);
  if (problems.length === 0) return;
  throw new TestFailure(`The configuration of ${name}: ${problems.join('; ')}.`, stackStart);
}

export function testedConfiguration(values: Values = {}): CurrentConfiguration {
  return new CurrentConfiguration({ json: configurationJson(mapOf(values)), secrets: [] });
}

function mapOf(values: Values): ReadonlyMap<string, unknown> {
  // A property that is undefined is one that the test leaves out.
  return new Map(Object.entries(values).filter(([, value]) => value !== undefined));
}
