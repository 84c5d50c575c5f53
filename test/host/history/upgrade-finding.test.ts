// UpgradeFindings: which examples of a finding are listed.
import { expect, test } from 'vitest';
import { UpgradeFindings } from '../../../host/history/upgrade-finding.ts';

const finding = (subject = 'fee') =>
  ({ name: 'event-refused', component: 'book', subject, message: 'refused' }) as const;

test('an example is kept while there are few, and later only when its id comes before a listed one', () => {
  const findings = new UpgradeFindings();
  for (const id of ['b', 'c', 'd', 'e', 'f']) {
    expect(findings.keeps(finding(), { id, seq: 1 })).toBe(true);
    findings.add(finding(), { id, seq: 1, problem: 'is missing' });
  }
  expect(findings.keeps(finding(), { id: 'g', seq: 1 })).toBe(false);
  expect(findings.keeps(finding(), { id: 'a', seq: 1 })).toBe(true);
  expect(findings.keeps(finding('price'), { id: 'g', seq: 1 })).toBe(true);
  findings.add(finding(), { id: 'a', seq: 1, problem: 'is missing' });
  const [{ examples, entities } = { examples: [], entities: 0 }] = findings.list();
  expect([entities, examples.map(({ id }) => id)]).toEqual([6, ['a', 'b', 'c', 'd', 'e']]);
});

test('subjects beyond the listed ones share their examples', () => {
  const findings = new UpgradeFindings();
  for (let index = 0; index < 110; index++)
    findings.add(finding(`s${index}`), { id: `e${index}`, problem: 'is missing' });
  expect(findings.keeps(finding('another'), { id: 'z' })).toBe(false);
  expect(findings.keeps(finding('another'), { id: 'a' })).toBe(true);
  expect(findings.keeps(finding('s1'), { id: 'z' })).toBe(true);
});
