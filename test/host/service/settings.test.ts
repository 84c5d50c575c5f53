import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SvcError } from '../../../kit/svc-error.ts';
import { dottedName, variableName } from '../../../kit/setting-name.ts';
import { readSettings } from '../../../host/service/settings.ts';

const sections = {
  http: { answerTimeoutMs: 60_000 },
  engine: { entitiesInMemoryMax: 10 },
} as const;
const ranges = {
  http: { answerTimeoutMs: [1, 1_000_000_000] },
  engine: { entitiesInMemoryMax: [2, 20] },
} as const;
const read = (args: readonly string[], env: Record<string, string> = {}) =>
  readSettings({ args, env, stderrIsTerminal: false }, sections, ranges);

const shards = (args: readonly string[], cores: number) =>
  readSettings({ args, env: {}, stderrIsTerminal: false, cores }, sections, ranges).shards;

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof SvcError ? error.code : String(error);
  }
}

describe('settings', () => {
  test('have defaults that need nothing but the module', () => {
    const settings = read(['carts/Shopping_Cart.wasm']);
    expect(settings).toMatchObject({
      name: 'shopping-cart',
      host: '127.0.0.1',
      port: 9000,
      logFormat: 'json',
      sections: { http: { answerTimeoutMs: 60_000 }, engine: { entitiesInMemoryMax: 10 } },
    });
    expect(settings.code).toMatchObject({
      kind: 'module',
      file: expect.stringMatching(/carts\/Shopping_Cart\.wasm$/) as string,
    });
    expect(settings.dataFolder).toMatch(/\.svc\/shopping-cart$/);
  });

  test('name the process that holds the code, and the file with its command, absolute', () => {
    const address = ['--process', '127.0.0.1:9010'];
    expect(read(address).code).toEqual({
      kind: 'process',
      address: '127.0.0.1:9010',
      file: undefined,
    });
    const file = { SVC_PROCESS_FILE: 'process.json' };
    expect(read(address, file).code).toMatchObject({ file: join(process.cwd(), 'process.json') });
    expect(read(address, file).configuration.ignoresOtherVariables).toBe(true);
    expect(read(['m.wasm']).configuration.ignoresOtherVariables).toBe(false);
    expect(codeOf(() => read(['m.wasm'], file))).toBe('SVC_SETTING_INVALID');
  });

  test('say one shard for a developer, and for a deployed instance one for each core, up to 256', () => {
    expect(shards(['m.wasm'], 8)).toBe(1);
    expect(shards(['--deployed'], 8)).toBe(8);
    expect(shards(['--deployed'], 1_000)).toBe(256);
    expect(shards(['--deployed', '--shards', '3'], 8)).toBe(3);
    expect(read(['m.wasm'], { SVC_SHARDS: '4' }).shards).toBe(4);
    for (const odd of ['0', '257', 'many', '1.5'])
      expect(codeOf(() => read(['m.wasm', '--shards', odd]))).toBe('SVC_SETTING_INVALID');
  });

  describe('of an identity', () => {
    const given = {
      SVC_IDENTITY_FOLDER: '/etc/svc/identity',
      SVC_IDENTITY_TRUST_DOMAIN: 'example.org',
      SVC_IDENTITY_GATEWAY: 'spiffe://example.org/gateway',
      SVC_PROJECT: 'shop',
    };

    test('give the folder, the identities that are told apart, and its own', () => {
      expect(read(['--deployed', '--name', 'cart'], given).identity).toEqual({
        folder: '/etc/svc/identity',
        project: 'shop',
        rules: { trustDomain: 'example.org', gatewayId: 'spiffe://example.org/gateway' },
        ownId: 'spiffe://example.org/ns/svc-shop/sa/cart',
      });
      expect(read(['--deployed']).identity).toBeUndefined();
    });

    test.each(Object.keys(given))('are set together: not without %s', (name) => {
      const { [name as keyof typeof given]: _left, ...others } = given;
      expect(codeOf(() => read(['--deployed', '--name', 'cart'], others))).toBe(
        'SVC_SETTING_INVALID',
      );
    });

    test.each([
      ['SVC_IDENTITY_TRUST_DOMAIN', 'Example.org'],
      ['SVC_IDENTITY_GATEWAY', 'spiffe://example.org/gateway/'],
      ['SVC_IDENTITY_GATEWAY', 'gateway.example.org'],
      ['SVC_PROJECT', 'Shop'],
      ['SVC_PROJECT', 'p'.repeat(58)],
      ['SVC_NAME', '1cart'],
    ])('are refused: %s=%s', (name, value) => {
      const env = { SVC_NAME: 'cart', ...given, [name]: value };
      expect(codeOf(() => read(['--deployed'], env))).toBe('SVC_SETTING_INVALID');
    });

    test('let nodes call each other with TLS, which needs them', () => {
      const words = ['--deployed', '--name', 'cart'];
      const tls = { SVC_REMOTING_TLS: 'true' };
      expect(read(words, given).remoting.tls).toBe(false);
      expect(read(words, { ...given, ...tls }).remoting.tls).toBe(true);
      expect(() => read(words, tls)).toThrow(/svc.remoting.tls needs .* svc.identity.folder/);
      expect(codeOf(() => read(words, tls))).toBe('SVC_SETTING_INVALID');
    });

    test('are for deployed services', () => {
      expect(codeOf(() => read(['m.wasm'], given))).toBe('SVC_SETTING_INVALID');
    });
  });

  test('of a deployed instance fit an image', () => {
    const deployed = {
      deployed: true,
      code: { kind: 'module', file: '/service/module.wasm' },
      dataFolder: '/data',
      host: '0.0.0.0',
      port: 9000,
      logFormat: 'json',
    };
    expect(read(['--deployed'])).toMatchObject(deployed);
    expect(read([], { SVC_DEPLOYED: 'true', SVC_NAME: 'carts' })).toMatchObject({
      ...deployed,
      name: 'carts',
    });
    expect(
      readSettings({ args: ['--deployed'], env: {}, stderrIsTerminal: true }, sections, ranges)
        .logFormat,
    ).toBe('json');
    expect(read(['m.wasm', '--deployed', '--host', '::1', '--data', '/d'])).toMatchObject({
      host: '::1',
      dataFolder: '/d',
    });
    expect(read(['m.wasm']).deployed).toBe(false);
    expect(codeOf(() => read([], { SVC_DEPLOYED: 'yes' }))).toBe('SVC_SETTING_INVALID');
  });

  test.each([['--data='], ['--host='], ['--name='], ['--port='], ['--set', 'svc.data=']])(
    'are not empty: %s is refused',
    (...words) => {
      expect(codeOf(() => read(['m.wasm', ...words]))).toBe('SVC_SETTING_INVALID');
    },
  );

  test('of the environment are not empty either', () => {
    expect(codeOf(() => read(['m.wasm'], { SVC_HTTP_HOST: '' }))).toBe('SVC_SETTING_INVALID');
    expect(codeOf(() => read(['']))).toBe('SVC_USAGE');
  });

  test('are text on a terminal and JSON elsewhere', () => {
    expect(
      readSettings({ args: ['m.wasm'], env: {}, stderrIsTerminal: true }, sections, ranges)
        .logFormat,
    ).toBe('text');
  });

  test('a flag goes before the environment, and that before the default', () => {
    const env = { SVC_HTTP_PORT: '1', SVC_HTTP_ANSWER_TIMEOUT_MS: '5' };
    expect(read(['m.wasm'], env).port).toBe(1);
    expect(read(['m.wasm', '--port', '2'], env).port).toBe(2);
    expect(read(['m.wasm', '--set', 'svc.http.port=3'], env).port).toBe(3);
    expect(read(['m.wasm'], env).sections.http.answerTimeoutMs).toBe(5);
    expect(
      read(['m.wasm', '--set', 'svc.http.answer-timeout-ms=6'], env).sections.http.answerTimeoutMs,
    ).toBe(6);
  });

  test('may be lists, with commas between, and switches', () => {
    const lists = { 'http.cors': { origins: ['a'], headers: [] as string[], credentials: false } };
    const readLists = (...args: readonly string[]) =>
      readSettings(
        {
          args: ['m.wasm', ...args],
          env: { SVC_HTTP_CORS_HEADERS: 'x, y' },
          stderrIsTerminal: false,
        },
        lists,
        { 'http.cors': { origins: [0, 2], headers: [0, 2] } },
      ).sections['http.cors'];
    expect(readLists()).toEqual({ origins: ['a'], headers: ['x', 'y'], credentials: false });
    expect(readLists('--cors', 'b,c').origins).toEqual(['b', 'c']);
    expect(readLists('--set', 'svc.http.cors.origins=none').origins).toEqual([]);
    expect(readLists('--set', 'svc.http.cors.credentials=true').credentials).toBe(true);
    for (const wrong of ['origins=a,,b', 'origins=a,b,c', 'origins=', 'credentials=yes']) {
      const action = () => readLists('--set', `svc.http.cors.${wrong}`);
      expect(codeOf(action)).toBe('SVC_SETTING_INVALID');
    }
  });

  test.each(['1', '21', '0', '-3', '1e1', '99999999999999999999'])(
    'have a least and a most: %s is refused by name',
    (value) => {
      const action = () => read(['m.wasm', '--set', `svc.engine.entities-in-memory-max=${value}`]);
      expect(action).toThrow(/entities-in-memory-max .* takes a whole number from 2 to 20/);
      expect(codeOf(action)).toBe('SVC_SETTING_INVALID');
    },
  );

  test('have one dotted name and one variable each', () => {
    expect(dottedName('http', 'answerTimeoutMs')).toBe('svc.http.answer-timeout-ms');
    expect(variableName('svc.http.answer-timeout-ms')).toBe('SVC_HTTP_ANSWER_TIMEOUT_MS');
  });

  test.each([
    [[]],
    [['a.wasm', 'b.wasm']],
    [['a.wasm', '--prot', '1']],
    [['a.wasm', '--shards', '-1']],
    [['a.wasm', '--set', 'no-equals-sign']],
    [['a.wasm', '--set', 'svc.http.unknown=1']],
    [['a.wasm', '--set', '__proto__=1']],
  ])('words that make no sense are refused: %j', (args) => {
    expect(codeOf(() => read(args))).toBe('SVC_USAGE');
    expect(() => read(args)).toThrow(/^[^\n]+$/);
  });

  test.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--port', '80a'],
    ['--port', ''],
    ['--port', '1e3'],
    ['--set', 'svc.engine.entities-in-memory-max=1.5'],
    ['--set', 'svc.http.answer-timeout-ms=99999999999999999999'],
    // The value exceeds the longest time of a timer, which would fire at once.
    ['--set', 'svc.http.answer-timeout-ms=2147483648'],
    ['--name', '../etc'],
    ['--name', 'UPPER'],
    ['--name', '-a'],
    ['--log', 'xml'],
  ])('a value that a setting cannot take is refused: %s %s', (flag, value) => {
    expect(codeOf(() => read(['m.wasm', `${flag}=${value}`]))).toBe('SVC_SETTING_INVALID');
  });

  test('the message of a bad value names the setting, its variable, and what it takes', () => {
    expect(() => read(['m.wasm'], { SVC_HTTP_PORT: 'eighty' })).toThrow(
      "The setting svc.http.port (environment: SVC_HTTP_PORT) takes a whole number from 0 to 65535, and found 'eighty'.",
    );
  });
});
