// The validation of a service's descriptor: which values are valid, what is reported of others, and that all problems are
// reported at once. What distinguishes the hostings is in hostings.test.ts.
import { assert, constantFrom, jsonValue, property, shuffledSubarray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  PROBLEMS_BYTES_MAX,
  descriptorProblems,
  problemLine,
  problemsText,
} from '../../../client/index.ts';

const MINIMAL = {
  name: 'shop',
  image: 'registry.example/shop:1',
  hosting: 'process',
  protocol: 'http/1.1',
} as const;

/** Problems of the minimal descriptor with some fields changed, a line each. */
function linesOf(changes: Readonly<Record<string, unknown>>): readonly string[] {
  return descriptorProblems({ ...MINIMAL, ...changes }).map(problemLine);
}

describe('a descriptor without problems', () => {
  test('has a name, an image, its hosting and its protocol', () => {
    expect(descriptorProblems(MINIMAL)).toEqual([]);
  });

  test('can have every field', () => {
    expect(
      linesOf({
        runtime: '1.4.0-rc.1',
        http: true,
        port: 9001,
        processPort: 3000,
        mounts: [
          { path: '/cart', service: 'cart' },
          { path: '/cart/v2', service: 'cart-2' },
          { path: '/~a/b_c/@d', service: 'cart' },
        ],
        callers: ['billing', 'reports.finance', 'd3'],
        hostnames: ['shop.example.com', 'xn--mnchen-3ya.example'],
        env: { LOG_LEVEL: 'debug', _x: '' },
      }),
    ).toEqual([]);
  });

  test('can name fields that are undefined', () => {
    expect(linesOf({ mounts: undefined, port: undefined })).toEqual([]);
  });
});

describe('all problems are reported at once', () => {
  test('those of types, of missing fields and of rules between fields', () => {
    const problems = descriptorProblems({
      name: 'Shop',
      hosting: 'process',
      protocol: 'http/1.1',
      http: false,
      instances: 0,
      resources: { cpu: 1, memory: '1GB' },
      database: { urlFrom: 'A b', x: 1 },
      allow: ['route-removed'],
      colour: 'red',
      port: 8080,
      mounts: [
        { path: 'cart/', service: 'Shop' },
        { path: '/a', service: 'a' },
        { path: '/a', service: 'b.other', extra: 1 },
        7,
      ],
      callers: ['billing', 'Billing', 'billing', 3],
      hostnames: ['Shop.example.com', 'localhost'],
      env: { PORT: '1', SVC_SERVICES_URL: 'x', '1A': 'x', A: 5 },
    });
    expect(problems.map(({ path }) => path)).toEqual([
      '',
      '/allow',
      '/callers/1',
      '/callers/2',
      '/callers/3',
      '/database',
      '/database/urlFrom',
      '/env',
      '/env/A',
      '/env/PORT',
      '/env/SVC_SERVICES_URL',
      '/hostnames/0',
      '/hostnames/1',
      '/http',
      '/image',
      '/instances',
      '/mounts/0/path',
      '/mounts/0/service',
      '/mounts/2',
      '/mounts/2',
      '/mounts/2/service',
      '/mounts/3',
      '/name',
      '/port',
      '/resources/cpu',
      '/resources/memory',
    ]);
  });

  test('in the order of the paths, with indexes by their numbers', () => {
    const callers = Array.from({ length: 12 }, () => 'Bad');
    expect(descriptorProblems({ ...MINIMAL, callers }).map(({ path }) => path)).toEqual(
      callers.map((_, index) => `/callers/${index}`),
    );
  });

  test.each([null, undefined, 'shop', 4, [], [MINIMAL]])('%j is no descriptor', (value) => {
    expect(descriptorProblems(value).map(problemLine)).toEqual(['the descriptor is not an object']);
  });

  test('an empty object lacks the required fields', () => {
    expect(descriptorProblems({}).map(problemLine)).toEqual([
      'image is missing',
      'name is missing',
    ]);
  });
});

describe('a name', () => {
  test.each(['Shop', '1shop', 'shop-', '-shop', 'sh_op', 'a.b', '', 'a'.repeat(64), 'ſhop'])(
    'cannot be %j',
    (name) => {
      expect(linesOf({ name })).toEqual([
        expect.stringMatching(/^name is ".*", which is no name of a service: use at most 63 /),
      ]);
    },
  );
});

describe('a port', () => {
  test.each([0, -1, 65_536, 80.5, '9000', null, Number.NaN])('cannot be %j', (port) => {
    expect(linesOf({ port })).toEqual(['port is not a whole number from 1 to 65535']);
  });

  test.each([7626, 7627, 7630, 9010, 17_355])('cannot be %d, a port of the platform', (port) => {
    const reserved = expect.stringMatching(`is ${port}, but it is the port of .*: choose another`);
    expect(linesOf({ port })).toEqual([reserved]);
    expect(linesOf({ processPort: port })).toEqual([reserved]);
  });

  test.each([
    [{ port: 3000, processPort: 3000 }, 'processPort is 3000, which is also the port on which'],
    [{ port: 8080 }, 'port is 8080, which is also the default of processPort'],
    [{ processPort: 9000 }, 'processPort is 9000, which is also the port on which'],
  ])('cannot be the other one, given or by default: %j', (changes, line) => {
    expect(linesOf(changes)).toEqual([expect.stringContaining(line)]);
  });
});

describe('a mount', () => {
  test.each([
    ['', 'is empty'],
    ['cart', 'does not begin with a slash'],
    ['/', 'is the whole service'],
    ['/cart/', 'ends with a slash'],
    ['//cart', 'has an empty segment'],
    ['/a//b', 'has an empty segment'],
    ['/a/./b', 'has the segment . or ..'],
    ['/../a', 'has the segment . or ..'],
    ['/a%2Fb', 'has a percent-encoding'],
    ['/%63art', 'has a percent-encoding'],
    ['/a b', 'has a character that is not allowed'],
    [String.raw`/a\b`, 'has a character that is not allowed'],
    ['/a;v=1', 'has a character that is not allowed'],
    ['/a?b', 'has a character that is not allowed'],
    ['/a#b', 'has a character that is not allowed'],
    ['/café', 'has a character that is not allowed'],
    [`/${'a'.repeat(200)}`, 'is longer than 200 characters'],
    [5, 'is not a text'],
  ])('cannot have the path %j', (path, reason) => {
    expect(linesOf({ mounts: [{ path, service: 'cart' }] })).toEqual([
      expect.stringContaining(`mounts/0/path ${reason}`),
    ]);
  });

  test('has a path of its own, which case distinguishes', () => {
    const mounts = ['/cart', '/Cart', '/cart'].map((path) => ({ path, service: 'cart' }));
    expect(linesOf({ mounts })).toEqual(['mounts/2 is the same as entry 0: remove one']);
  });

  test.each([
    ['shop', 'is the service itself'],
    ['cart.other', 'a service of another project'],
    ['Cart', 'no name of a service'],
    [undefined, 'is not a text'],
  ])('cannot pass to %j', (service, reason) => {
    expect(linesOf({ mounts: [{ path: '/cart', service }] })).toEqual([
      expect.stringContaining(reason),
    ]);
  });
});

describe('callers', () => {
  test.each(['*', 'a.b.c', '.a', 'a.', 'A', 'a b', 'spiffe://x', '', 'a/b'])(
    'cannot be %j',
    (caller) => {
      expect(linesOf({ callers: [caller] })).toEqual([
        `callers/0 is ${JSON.stringify(caller)}: name a service as <service> or <service>.<project>`,
      ]);
    },
  );

  test('are a list of 100 at most', () => {
    expect(linesOf({ callers: 'billing' })).toEqual(['callers is not a list']);
    expect(linesOf({ callers: Array.from({ length: 101 }, (_, index) => `a${index}`) })).toEqual([
      'callers has 101 entries: there may be 100 at most',
    ]);
  });
});

describe('a hostname', () => {
  test.each([
    ['https://shop.example.com', 'is a URL'],
    ['shop.example.com/x', 'is a URL'],
    ['*.example.com', 'has a wildcard'],
    ['shop.example.com:443', 'has a port'],
    ['[::1]', 'has a port'],
    ['SHOP.example.com', 'has upper case'],
    ['shop.example.com.', 'ends with a dot'],
    ['münchen.example', 'has a character beyond ASCII'],
    ['shop..example.com', 'is no hostname'],
    ['-a.example.com', 'is no hostname'],
    ['a_b.example.com', 'is no hostname'],
    [`${'a'.repeat(64)}.example.com`, 'is no hostname'],
    ['localhost', 'has one part only'],
    ['127.0.0.1', 'is an IP address'],
    ['a.0x7f', 'is an IP address'],
    ['a.'.repeat(130), 'is longer than 253'],
    ['', 'is empty'],
  ])('cannot be %j', (hostname, reason) => {
    expect(linesOf({ hostnames: [hostname] })).toEqual([
      expect.stringContaining(`hostnames/0 ${reason}`),
    ]);
  });
});

describe('variables', () => {
  test.each(['PORT', 'SVC_SERVICES_URL'])('cannot be named %s', (name) => {
    expect(linesOf({ env: { [name]: '1' } })).toEqual([
      `env/${name} may not be declared: the platform gives this variable to the process`,
    ]);
  });

  test('have a limited size, each and together', () => {
    expect(linesOf({ env: { A: 'é'.repeat(16_385) } })).toEqual([
      'env/A is longer than 32768 bytes',
    ]);
    const env = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`A${index}`, 'x'.repeat(32_768)]),
    );
    expect(linesOf({ env })).toEqual([
      'env has 294930 bytes of names and values: there may be 262144 at most',
    ]);
  });

  test('have no NUL, and may be called __proto__', () => {
    const env = JSON.parse('{"__proto__": "x", "B": "a\\u0000b"}') as unknown;
    expect(linesOf({ env })).toEqual(['env/B has the character NUL, which no variable can have']);
  });
});

describe('the context of a descriptor', () => {
  test('has the name under which it is applied', () => {
    expect(descriptorProblems(MINIMAL, { name: 'shop' })).toEqual([]);
    expect(descriptorProblems(MINIMAL, { name: 'cart' }).map(problemLine)).toEqual([
      'name is "shop", but the path names "cart"',
    ]);
  });

  test.each(['example.com', 'example.com:8443'])(
    'has the base domain %s, under which the platform derives hostnames',
    (baseDomain) => {
      const hostnames = ['shop.example.org', 'example.com', 'a.b.example.com', 'anexample.com'];
      expect(
        descriptorProblems({ ...MINIMAL, hostnames }, { baseDomain }).map(({ path }) => path),
      ).toEqual(['/hostnames/1', '/hostnames/2']);
    },
  );
});

describe('the text of problems', () => {
  test('has a line for each, sorted', () => {
    expect(
      problemsText([
        { path: '/mounts/10/path', reason: 'is empty' },
        { path: '/mounts/2', reason: 'is not an object' },
        { path: '', reason: 'has the unknown field "x"' },
      ]),
    ).toBe('body: has the unknown field "x"\nmounts/2: is not an object\nmounts/10/path: is empty');
  });

  test('does not depend on the order in which problems were found', () => {
    const problems = descriptorProblems({
      callers: Array.from({ length: 12 }, () => 'Bad'),
      env: { A: 1, PORT: 2 },
    });
    assert(
      property(shuffledSubarray([...problems], { minLength: problems.length }), (shuffled) => {
        expect(problemsText(shuffled)).toBe(problemsText(problems));
      }),
    );
  });

  test('has 64 KiB at most as JSON, and says how many problems are not shown', () => {
    const env = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`${index}\u0001"${'x'.repeat(500)}`, 1]),
    );
    const text = problemsText(descriptorProblems({ ...MINIMAL, env }));
    const lines = text.split('\n');
    const answer = JSON.stringify({ status: 400, error: text });
    expect(new TextEncoder().encode(answer).byteLength).toBeLessThanOrEqual(PROBLEMS_BYTES_MAX);
    // 1,000 names, and their size together.
    expect(lines.at(-1)).toBe(`${1001 - (lines.length - 1)} more problems are not shown`);
    expect(lines.length).toBeGreaterThan(200);
  });
});

describe('a hostile value', () => {
  test('gets short problems on one line of ASCII', () => {
    const name = `\u001b[2J\u202e\n${'x'.repeat(5000)}`;
    const lines = linesOf({ name, [name]: 1, mounts: [{ path: '/a', service: name, [name]: 1 }] });
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toMatch(/^[\x20-\x7e…]{1,400}$/);
  });

  test('gets a limited number of problems', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field${i}`, i]));
    const list = Array.from({ length: 100_000 }, () => ({}));
    expect(linesOf({ ...many, mounts: list, callers: list, hostnames: list }).length).toBeLessThan(
      600,
    );
  });

  test('never makes the check throw', () => {
    assert(
      property(
        jsonValue(),
        constantFrom('mounts', 'env', 'callers', 'port', 'hosting', 'resources', 'allow'),
        (value, at) => {
          for (const given of [value, { ...MINIMAL, [at]: value }])
            for (const { path, reason } of descriptorProblems(given)) {
              expect(path).toMatch(/^(?:\/.*)?$/s);
              expect(reason).not.toBe('');
            }
        },
      ),
      { numRuns: 500 },
    );
  });
});
