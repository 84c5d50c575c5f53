// @bearer: its entry in the descriptor, and the messages about mistakes.
import { parseModuleDescriptor } from '@svc/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { descriptorText } from '../support/descriptor-text.ts';
import { UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('the descriptor has the rules where they stand', async () => {
  const result = parseModuleDescriptor(descriptorText(await compileFixture('bearer')));
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const [books, catalogue] = result.descriptor.endpoints;
  expect(books).toMatchObject({ name: 'BooksEndpoint', bearer: {} });
  expect(catalogue).not.toHaveProperty('bearer');
  expect(Object.fromEntries(books!.routes.map(({ handler, bearer }) => [handler, bearer]))).toEqual(
    {
      me: undefined,
      lend: undefined,
      shelves: { roles: { match: 'any', names: ['librarian', 'admin'] } },
      write: {
        roles: { match: 'all', names: ['librarian', 'admin'] },
        scopes: { match: 'all', names: ['books:read', 'books:write'] },
      },
      forwarded: {
        scopes: { match: 'any', names: ['books:read', 'books:write'] },
        forwardsToken: true,
      },
      cellar: { roles: { match: 'any', names: ['librarian'] } },
    },
  );
});

const service = (bearer: string) =>
  `import { Done, register } from "@svc/guest-sdk";
@endpoint("/a") @access("internet")
${bearer}
class A { @get("/a") a(): Done { return new Done(); } }
register<A>();`;

test.each([
  ['@bearer() @bearer()', /^3:11 @bearer stands here twice: keep one/],
  ['@bearer("admin")', /^3:9 this is no rule of @bearer: @bearer\(\) for any good token, or/],
  ['@bearer(Role.some("admin"))', /^3:9 this is no rule of @bearer/],
  ['@bearer(Role.any)', /^3:9 this is no rule of @bearer/],
  ['@bearer(Group.any("admin"))', /^3:9 this is no rule of @bearer/],
  ['@bearer(Token.kept)', /^3:9 this is no rule of @bearer/],
  ['@bearer(Role.any())', /^3:9 a rule of @bearer has 1 to 32 names/],
  ['@bearer(Role.any(1))', /^3:9 a rule of @bearer has 1 to 32 names/],
  ['@bearer(Role.any("book keeper"))', /^3:9 'book keeper' cannot be the name of a role/],
  ['@bearer(Scope.all("a"), Scope.any("b"))', /^3:25 @bearer has this rule twice: keep one/],
])('what cannot be read is named with its place: %s', async (bearer, expected) => {
  expect(await projects.firstLine(service(bearer))).toMatch(expected);
});

test('it means nothing elsewhere', async () => {
  expect(await projects.firstLine('@bearer() class Plain {}')).toMatch(
    /@bearer means .* an @endpoint class or one of its routes/,
  );
});
