// @cors: its entry in the descriptor, the messages about mistakes, and the test kit's answers to pages.
import { parseModuleDescriptor } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testEndpoints, testModule } from '../../guest-sdk/testing/index.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { descriptorText } from '../support/descriptor-text.ts';
import { UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('the descriptor has it where it stands, and nothing where it does not', async () => {
  const result = parseModuleDescriptor(descriptorText(await compileFixture('notes')));
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const [notes, drafts] = result.descriptor.endpoints;
  expect(notes).toMatchObject({ name: 'NotesEndpoint', cors: {} });
  for (const route of notes!.routes) expect(route).not.toHaveProperty('cors');
  expect(drafts).not.toHaveProperty('cors');
  expect(drafts!.routes.map(({ cors }) => cors)).toEqual([
    undefined,
    { origins: ['https://editor.example.com'], headers: ['content-type'], credentials: false },
  ]);
});

const service = (
  cors: string,
  access = 'internet',
  route = '@get("/a") a(): Done { return new Done(); }',
) =>
  `import { Done, register } from "@svc/guest-sdk";
@endpoint("/a") @access("${access}")
${cors}
class A { ${route} }
register<A>();`;

test.each([
  ['@cors @cors', /^3:7 @cors stands here twice: keep one/],
  ['@cors("https://a.example.com")', /^3:1 @cors takes one object, or nothing: @cors alone, or/],
  ['@cors({ origin: ["https://a.example.com"] })', /^3:9 @cors has no option 'origin': /],
  ['@cors({ credentials: false, credentials: true })', /^3:29 @cors has 'credentials' twice/],
  ['@cors({ credentials: "no" })', /^3:22 'credentials' of @cors is true or false/],
  [
    '@cors({ origins: "https://a.example.com" })',
    /^3:18 'origins' of @cors is a list of up to 100/,
  ],
  ['@cors({ origins: [] })', /^3:18 'origins' of @cors is empty: leave it out/],
  ['@cors({ origins: ["*"] })', /^3:19 the origin '\*' is every origin: leave origins out/],
  [
    '@cors({ origins: ["https://a.example.com/"] })',
    /^3:19 the origin 'https:\/\/a.example.com\/' is not .*: write https:\/\/a.example.com$/,
  ],
  ['@cors({ headers: ["a b"] })', /^3:19 'a b' is not the name of a header: write one such as/],
  [
    '@cors({ exposedHeaders: [1] })',
    /^3:25 'exposedHeaders' of @cors is a list of up to 100 texts/,
  ],
])('what cannot be read is named with its place: %s', async (cors, expected) => {
  expect(await projects.firstLine(service(cors))).toMatch(expected);
});

test('it has no place where no page may call', async () => {
  for (const rule of ['local', 'services', 'nobody'])
    expect(await projects.firstLine(service('@cors', rule))).toMatch(
      /^3:1 @cors has no effect: no route of endpoint 'A' is open to the internet: take @cors away/,
    );
  const local = '@cors @access("local") @get("/a") a(): Done { return new Done(); }';
  expect(await projects.firstLine(service('', 'internet', local))).toMatch(
    /^4:11 @cors has no effect: 'a' is not open to the internet/,
  );
  expect(await projects.firstLine('@cors class Plain {}')).toMatch(
    /@cors means .* an @endpoint class or one of its routes/,
  );
});

describe('in the test kit', () => {
  const SHOP = 'https://shop.example.com';
  const headers = { origin: SHOP, 'access-control-request-method': 'PUT' };

  test('pages of other origins read nothing, as in a service without settings', async () => {
    const api = testEndpoints(await testModule(await compileFixture('notes')));
    const answer = await api.get('/notes/a', { headers: { origin: SHOP } });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    const preflight = await api.request('OPTIONS', '/notes/a', { headers });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a page of an allowed origin may write', async () => {
    const module = await testModule(await compileFixture('notes'));
    const api = testEndpoints(module, { cors: { origins: ['https://shop.example.com'] } });
    const preflight = await api.request('OPTIONS', '/notes/a', { headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe('https://shop.example.com');
    const answer = await api.put('/notes/a', { text: '' }, { headers: { origin: SHOP } });
    expect(answer.status).toBe(422);
    expect(answer.headers['access-control-allow-origin']).toBe('https://shop.example.com');
  });
});
