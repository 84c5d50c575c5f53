// The file of people: what it may contain, and that a refusal names every problem.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePeople, readPeopleFile } from '../../login-provider/people-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function problemsOf(source: string): readonly string[] {
  const problems: string[] = [];
  parsePeople(source, problems);
  return problems;
}

function refusal(text: string) {
  return expect.objectContaining({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringContaining(text) as string,
  });
}

test('people and machines are read from YAML and from JSON', () => {
  const yaml = `
people:
  - subject: ann
    name: Ann
    email: ann@example.com
    emailVerified: true
    roles: [platform-admin]
    tenants: [acme]
machines:
  - clientId: ci
    secret: 0123456789abcdef!
`;
  const json = JSON.stringify({
    people: [
      {
        subject: 'ann',
        name: 'Ann',
        email: 'ann@example.com',
        emailVerified: true,
        roles: ['platform-admin'],
        tenants: ['acme'],
      },
    ],
    machines: [{ clientId: 'ci', secret: '0123456789abcdef!' }],
  });
  const [fromYaml, fromJson] = [yaml, json].map((source) => parsePeople(source, []));
  expect(fromYaml).toEqual(fromJson);
  expect(fromYaml!.people.get('ann')).toMatchObject({ email: 'ann@example.com' });
  expect(fromYaml!.machines.get('ci')).toEqual({ secret: '0123456789abcdef!' });
});

test('a file is refused with all of its problems at once', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'people.yaml');
  writeFileSync(
    file,
    `
people:
  - name: Nobody
  - subject: bob
    emial: bob@example.com
    emailVerified: "true"
  - subject: ann
  - subject: ann
machines:
  - clientId: svc-cli
    secret: short
robots: []
`,
  );
  const message = (() => {
    try {
      readPeopleFile(file);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  })();
  for (const problem of [
    file,
    'people/0/subject is missing',
    'people/1/emial is not known',
    'people/1/emailVerified has to be true or false',
    'the subject "ann" is there twice',
    'machines/0/clientId is svc-cli',
    'machines/0/secret has to be a text of 16',
    '"robots" is not known',
  ])
    expect(message).toContain(problem);
});

test.each([
  ['', 'it has to be an object'],
  ['[]', 'it has to be an object'],
  ['people: []', 'people has no entry'],
  ['people: {}', 'people has to be a list'],
  ['people: [null]', 'people/0 has to be an object'],
  ['people: [{subject: 7}]', 'people/0/subject has to be a text'],
  ['people: [{subject: ""}]', 'people/0/subject has to be a text'],
  ['people: [{subject: "a\\u0000b"}]', 'people/0/subject has to be a text'],
  [`people: [{subject: ${'x'.repeat(256)}}]`, 'people/0/subject has to be a text'],
  ['people: [{subject: a}]\npeople: []', 'Map keys must be unique'],
  ['people: [{subject: a}', 'Flow'],
  ['a: &a [x]\npeople: [*a]', 'it has aliases'],
  [
    'people: [{subject: a}]\nmachines: [{clientId: a, secret: 0123456789abcdef}]',
    'is also a subject',
  ],
])('%j is refused', (source, problem) => {
  expect(problemsOf(source).join('; ')).toContain(problem);
});

test('a file that is missing or too large is refused with its path', () => {
  const folder = temporaryFolder();
  const large = join(folder, 'large.yaml');
  writeFileSync(large, ' '.repeat(1024 * 1024 + 1));
  expect(() => readPeopleFile(large)).toThrow(refusal('has more than 1048576 bytes'));
  expect(() => readPeopleFile(join(folder, 'none'))).toThrow(refusal('(ENOENT)'));
});
