// The compiler's messages about endpoints and data classes that cannot become part of a component: the line, the
// problem, and what to do. Each file is really compiled, outside of the repository, like an author's files.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

const endpoint = (members: string, head = '@access("internet")'): string =>
  `import { Context, Done, Request, Result, ok, register } from "@svc/guest-sdk";
@data class Body { n: i32 = 0; }
@endpoint("/things") ${head} class Things {
${members}
}
register<Things>();`;

const GET = '@get("/") get(): Done { return new Done(); }';

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
      'an access rule with a project that no project can have as its id',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("services", "cart.2fin")'),
      /^3:\d+ 'cart.2fin' is not a service/,
    ],
    [
      'a template parameter that no one takes',
      endpoint('@get("/{id}") get(): Done { return new Done(); }'),
      /^4:\d+ 'get' does not take the path parameter \{id\}: add a parameter 'id'$/,
    ],
    [
      'a class in the query string',
      endpoint('@get("/{id}") get(id: string, name: Body): Done { return new Done(); }'),
      /^4:\d+ query parameter 'name' must be a string, .* or a list of them, not 'Body': a GET has no body: take the fields of 'Body' one by one$/,
    ],
    [
      'a list of lists in the query string',
      endpoint('@get("/") get(names: string[][]): Done { return new Done(); }'),
      /^4:\d+ query parameter 'names' must be a string, .* not 'Array<Array<string>>': a GET has no body: take a list of scalars, or read the query string of a parameter of type Request$/,
    ],
    [
      'a list of what may be null in the query string',
      endpoint('@get("/") get(names: Array<string | null>): Done { return new Done(); }'),
      /^4:\d+ query parameter 'names' must be a string, /,
    ],
    [
      'bytes in the query string',
      endpoint('@del("/") remove(key: Uint8Array): Done { return new Done(); }'),
      /^4:\d+ query parameter 'key' must be a string, .* not 'Uint8Array': a DELETE has no body/,
    ],
    [
      'an enum without names in the query string',
      endpoint('@get("/") get(sort: Sort): Done { return new Done(); }').replace(
        '@data',
        'enum Sort { A }\n@data',
      ),
      /^5:\d+ enum 'Sort' has no JSON form: write @data before it/,
    ],
    [
      'a body where there is none',
      endpoint('@get("/") get(body: string): Done { return new Done(); }'),
      /^4:\d+ 'body' is the body of a request, and a GET has none: give it another name to take it from the query string$/,
    ],
    [
      'a list that could be the body or a query parameter',
      endpoint('@post("/") post(names: string[]): Done { return new Done(); }'),
      /^4:\d+ 'names' could be the body or a query parameter: name it 'body' if it is the body; a query parameter has a default here: names: string\[\] = \[\]$/,
    ],
    [
      'a query parameter that may be left out without a value',
      endpoint('@get("/") get(limit?: u32): Done { return new Done(); }'),
      /^4:\d+ parameter 'limit' of 'get' may be left out, and does not say what its value is then: write a default instead of the question mark/,
    ],
    [
      'a default of a path parameter',
      endpoint('@get("/{id}") get(id: string = "a"): Done { return new Done(); }'),
      /^4:\d+ parameter 'id' of 'get' cannot have a default: the runtime gives each one/,
    ],
    [
      'a default of the body',
      endpoint('@post("/") post(input: Body = new Body()): Done { return new Done(); }'),
      /^4:\d+ the body 'input' cannot have a default: the runtime gives it: write 'Body \| null', which is null when the request has no body$/,
    ],
    [
      'a default of the body that is named so',
      endpoint('@post("/") post(body: string = ""): Done { return new Done(); }'),
      /^4:\d+ parameter 'body' of 'post' cannot have a default/,
    ],
    [
      'a default of another type',
      endpoint('@get("/") get(limit: u32 = "ten"): Done { return new Done(); }'),
      /^4:\d+ Type 'string' is not assignable to type 'u32'/,
    ],
    [
      'a query parameter with a name that is none to JavaScript',
      endpoint('@get("/") get(constructor: string): Done { return new Done(); }'),
      /^4:\d+ a query parameter cannot be named 'constructor'/,
    ],
    [
      'more query parameters than a route may have',
      endpoint(
        `@get("/") get(${Array.from({ length: 65 }, (_, index) => `q${index}: i32`).join(', ')}): Done { return new Done(); }`,
      ),
      /^4:\d+ 'get' has more than 64 query parameters: take the rest from a parameter of type Request$/,
    ],
    [
      'a status that is none',
      endpoint('@get("/") @answers(101) get(): Done { return new Done(); }'),
      /^4:\d+ @answers needs statuses from 200 to 599, each of them once and 32 at most: @answers\(201\)/,
    ],
    [
      'a status twice',
      endpoint('@get("/") @answers(200, 200) get(): Done { return new Done(); }'),
      /^4:\d+ @answers needs statuses from 200 to 599, each of them once/,
    ],
    [
      'a status that the route does not declare',
      endpoint(
        '@get("/") @answers(201) get(): Result<Done> { return ok(new Done()).withStatus(202); }',
      ),
      /^4:\d+ 'get' answers 202, which is not among the statuses that it declares: @answers\(201, 202\)$/,
    ],
    [
      'a status of a class',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("local") @answers(200)'),
      /^3:\d+ @answers means nothing here: it stands before a route of an @endpoint class$/,
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
      /^4:\d+ path parameter 'id' must be a string, a bool, an integer, a float, a Date, a Decimal, a Duration or a @data enum, not 'Body'$/,
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
    [
      'a query parameter that is no plain name elsewhere',
      endpoint('@get("/") get(__proto__: string): Done { return new Done(); }'),
      /^4:\d+ a query parameter cannot be named '__proto__'/,
    ],
    [
      'a declaration of a method that is no route',
      endpoint(`${GET}\n@answers(201) made(): i32 { return 1; }`),
      /^5:1 @answers means nothing here: 'made' has no route: give it one, @get/,
    ],
    [
      'an access rule of a method that is no route',
      endpoint(`${GET}\n@access("local") made(): i32 { return 1; }`),
      /^5:1 @access means nothing here: 'made' has no route: /,
    ],
    [
      'a default that is made of another parameter',
      endpoint(
        '@get("/") get(limit: u32 = 20, page: u32 = 2 * limit): Done { return new Done(); }',
      ),
      /^4:\d+ the default of 'page' cannot be made of the parameter 'limit': give it a value/,
    ],
    [
      'the rest of the parameters',
      endpoint('@get("/") get(...tags: string[]): Done { return new Done(); }'),
      /^4:15 'get' cannot take the rest of its parameters: .*: take a list: tags: string\[\]$/,
    ],
    [
      'a default that is too large for its type',
      endpoint('@get("/") get(limit: u8 = 300): Done { return new Done(); }'),
      /^4:\d+ Conversion from type 'i32' to 'u8' .* write <u8>value/,
    ],
    [
      'a literal status that HTTP does not have',
      endpoint('@get("/") get(): Result<i32> { return ok(1).withStatus(600); }'),
      /^4:\d+ 'get' answers 600, and a status is from 200 to 599/,
    ],
    [
      'a value without a status, where none below 300 is declared',
      endpoint('@get("/") @answers(404) get(): i32 { return 1; }'),
      /^4:11 'get' answers 200, which is not among the statuses that it declares: @answers\(200, 404\)$/,
    ],
    [
      'the same of Done',
      endpoint('@get("/") @answers(303) get(): Result<Done> { return ok(new Done()); }'),
      /^4:11 'get' answers 204, which is not among the statuses that it declares: @answers\(204, 303\)$/,
    ],
    [
      'a value that is answered with a status without content',
      endpoint('@get("/") @answers(204, 200) get(): Result<i32> { return ok(1); }'),
      /^4:11 'get' answers its value with 204, which has no content: return Done/,
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
