// What the compiler says of endpoints and data classes that cannot become part of a component: the
// line, what is wrong, what to do. Each file is compiled for real, outside of the repository, as a user's
// files are.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

const endpoint = (members: string, head = '@access("internet")'): string =>
  `import { Context, Done, Request, Result, register } from "@svc/guest-sdk";
@data class Body { n: i32 = 0; }
@endpoint("/things") ${head} class Things {
${members}
}
register<Things>();`;

describe('endpoints', () => {
  test.each([
    [
      'no access rule',
      endpoint('@get("/") get(): Done { return new Done(); }', ''),
      /^3:\d+ endpoint 'Things' has no access rule: say who may call: @access\("internet"\)/,
    ],
    [
      'an unknown access rule',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("everyone")'),
      /^3:\d+ this access rule is not known/,
    ],
    [
      'an access rule with a bad service',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("services", "Orders")'),
      /^3:\d+ 'Orders' is not a service/,
    ],
    [
      'a template parameter that no one takes',
      endpoint('@get("/{id}") get(): Done { return new Done(); }'),
      /^4:\d+ 'get' does not take the path parameter \{id\}: add a parameter 'id'$/,
    ],
    [
      'a parameter that nothing binds',
      endpoint('@get("/{id}") get(id: string, name: string): Done { return new Done(); }'),
      /^4:\d+ 'name' is bound to nothing: the template has no \{name\}, and a GET has no body: add \{name\} to the path, or read the query string/,
    ],
    [
      'two bodies',
      endpoint('@post("/") post(one: Body, two: Body): Done { return new Done(); }'),
      /^4:\d+ 'two' is bound to nothing: .* the body is taken by another parameter: add \{two\} .* or put 'two' into the class of the body$/,
    ],
    [
      'a parameter twice in the template',
      endpoint('@get("/{id}/{id}") get(id: string): Done { return new Done(); }'),
      /^4:\d+ the template has the parameter \{id\} twice: give each its own name/,
    ],
    [
      'a path that is none',
      endpoint('@get("items") get(): Done { return new Done(); }'),
      /^4:\d+ @get needs a path that begins with a slash/,
    ],
    [
      'a percent-encoding that no request can have',
      endpoint('@get("/caf%E9") get(): Done { return new Done(); }'),
      /^4:\d+ the path has a percent-encoding that is not UTF-8: encode each character as UTF-8: é is %C3%A9$/,
    ],
    [
      'half of a percent-encoding',
      endpoint('@get("/100%") get(): Done { return new Done(); }'),
      /^4:\d+ @get needs a path/,
    ],
    [
      'a parameter that is not a whole segment',
      endpoint('@get("/a-{id}") get(id: string): Done { return new Done(); }'),
      /^4:\d+ @get needs a path/,
    ],
    [
      'a path parameter of a type that a path cannot have',
      endpoint('@get("/{id}") get(id: Body): Done { return new Done(); }'),
      /^4:\d+ path parameter 'id' must be a string, a bool, an integer or a float, not 'Body'$/,
    ],
    [
      'a decorator that is not known',
      endpoint('@gte("/") get(): Done { return new Done(); }'),
      /^4:\d+ a method of an endpoint has one of @get, .* not @gte$/,
    ],
    [
      'a body that has no JSON form',
      endpoint('@post("/") post(body: Set<i32>): Done { return new Done(); }'),
      /^4:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a reply that has no JSON form',
      endpoint('@get("/") get(): StaticArray<i32> { return [1]; }'),
      /no JSON form/,
    ],
    [
      'no reply',
      endpoint('@get("/") get(): void {}'),
      /^4:\d+ a handler returns a value: Done when there is nothing to say/,
    ],
    [
      'the same route twice',
      endpoint(
        '@get("/{a}") one(a: string): Done { return new Done(); }\n@get("/{b}") two(b: string): Done { return new Done(); }',
      ),
      /^5:\d+ GET \/things\/\{b\} is served twice, by 'Things.one' and by 'Things.two': change .*; the other stands at index.ts:4$/,
    ],
    [
      'one route in two classes, whose prefixes end at different places',
      `${endpoint('@get("/{a}/items") one(a: string): Done { return new Done(); }')}
@endpoint("/things/{b}") @access("local") class More {
  @post("/items") post(b: string): Done { return new Done(); }
  @get("/items") get(b: string): Done { return new Done(); }
}
register<More>();`,
      /^9:\d+ GET \/things\/\{b\}\/items is served twice, by 'Things.one' and by 'More.get'/,
    ],
    [
      'the root twice',
      'import { Done, register } from "@svc/guest-sdk";\n@endpoint("") @access("local") class Root {\n@get("/") one(): Done { return new Done(); }\n@get two(): Done { return new Done(); }\n}\nregister<Root>();',
      /^4:\d+ GET \/ is served twice/,
    ],
    [
      'no route',
      endpoint('get(): Done { return new Done(); }'),
      /^3:\d+ endpoint 'Things' has no route: nothing can reach it: add one: @get/,
    ],
    [
      'a path parameter that is no plain name elsewhere',
      endpoint('@get("/{__proto__}") get(__proto__: string): Done { return new Done(); }'),
      /^4:\d+ a path parameter cannot be named '__proto__'/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});

describe('data', () => {
  test.each([
    [
      'a case without a base',
      '@variant("a") class A {}',
      /^1:\d+ case 'A' must extend an abstract @data class that is declared in the same file$/,
    ],
    [
      'a case of a class that is not abstract',
      '@data class B {}\n@variant("a") class A extends B {}',
      /^2:\d+ case 'A' must extend an abstract @data class/,
    ],
    [
      'a base without a case',
      '@data abstract class B {}',
      /^1:\d+ abstract @data class 'B' has no case/,
    ],
    [
      'a subclass that is not a case',
      '@data abstract class B {}\n@variant("a") class A extends B {}\nclass C extends B {}',
      /^3:\d+ 'C' extends a @data class: give it @variant\("name"\)/,
    ],
    [
      'a case twice',
      '@data abstract class B {}\n@variant("a") class A extends B {}\n@variant("a") class C extends B {}',
      /^3:\d+ sum type 'B' has the case 'a' twice$/,
    ],
    [
      'a case without a name',
      '@data abstract class B {}\n@variant class A extends B {}',
      /^2:\d+ @variant needs the name that is stored/,
    ],
    [
      'a field `type` in a case',
      '@data abstract class B {}\n@variant("a") class A extends B { type: string = ""; }',
      /^2:\d+ the field `type` holds the name of the case/,
    ],
    [
      'a field of a type without a JSON form',
      '@data class A { s: Set<i32> = new Set(); }',
      /^1:\d+ type 'Set<i32>' has no JSON form: use an array, i32\[\]/,
    ],
    [
      'a field of a plain class',
      'class P {}\n@data class A { p: P = new P(); }',
      /^2:\d+ type 'P' has no JSON form/,
    ],
    [
      'a map with keys that are not strings',
      '@data class A { m: Map<i32, i32> = new Map(); }',
      /^1:\d+ the keys of a Map must be strings/,
    ],
    [
      'a field as wide as the machine',
      '@data class A { n: usize = 0; }',
      /^1:\d+ type 'usize' has no JSON form/,
    ],
    [
      'an optional field without an initialiser',
      '@data class A { @optional n: i32; }',
      /^1:\d+ @optional field 'n' needs an initialiser/,
    ],
    [
      'a field that is no plain name elsewhere',
      '@data class A { __proto__: i32 = 0; }',
      /^1:\d+ a stored field cannot be named '__proto__': to programs in JavaScript/,
    ],
    [
      'a name of the compiler',
      '@data class A { __svc_manifest: i32 = 0; }',
      /^1:\d+ the name '__svc_manifest' is reserved: the compiler's own begin with '__svc_'/,
    ],
    [
      'a stored name that is no plain name elsewhere',
      '@data("constructor") class A {}',
      /^1:\d+ what @data names cannot be named 'constructor'/,
    ],
    [
      'a member of an enum that is no plain name elsewhere',
      '@data enum A { one, prototype }',
      /^1:\d+ a member of a @data enum cannot be named 'prototype'/,
    ],
    ['two roles', '@data @entity("a") class A {}', /^1:\d+ a class has one role/],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});
