// Which versions of svc run what needs another one.
import { expect, test } from 'vitest';
import { versionProblem } from '../../../control-plane/local/runtime-version.ts';

const INSTALLED = '1.4.2';

test('the same version and earlier ones of the same major version are run', () => {
  for (const needed of ['1.4.2', '1.4.1', '1.4', '1.3.99', '1.0.0', '1'])
    expect(versionProblem(INSTALLED, needed)).toBeUndefined();
});

test('a later version needs a newer installation, number by number and not by its digits', () => {
  for (const needed of ['1.4.3', '1.4.10', '1.10.0', '2.0.0', '10.0.0'])
    expect(versionProblem(INSTALLED, needed)).toBe('older');
});

test('an earlier major version is another one, and so is what is no version', () => {
  for (const needed of [
    '0.9.0',
    '0.99.99',
    '',
    'latest',
    'v1.4.2',
    '1.x',
    '1.4.2.1',
    '1..2',
    '1e0',
  ])
    expect(versionProblem(INSTALLED, needed)).toBe('other');
  expect(versionProblem('0.1.0', '0.1.0')).toBeUndefined();
  expect(versionProblem('unknown', '1.4.2')).toBe('other');
});

test('pre-releases and builds of a version count as the version', () => {
  for (const needed of ['1.4.2-rc.1', '1.4.2+build.7', '1.4.2-rc.1+7'])
    expect(versionProblem(INSTALLED, needed)).toBeUndefined();
  expect(versionProblem('1.5.0-rc.1', '1.5.0')).toBeUndefined();
});
