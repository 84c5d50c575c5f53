// When the keys of the provider are read, with a clock that the test moves: rotation, floods of unknown keys, outages of every
// kind, and recovery.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { discoverKeys } from '../../tokens/published-keys.ts';
import { TOKEN_FAULTS } from '../../tokens/token-fault.ts';
import {
  IdentityProvider,
  newSigningKey,
  type ProviderFailure,
} from '../support/identity-provider/identity-provider.ts';
import { VerifierUnderTest } from './verifier-under-test.ts';

let provider: IdentityProvider;
let under: VerifierUnderTest;

beforeEach(async () => {
  provider = await IdentityProvider.start();
  under = new VerifierUnderTest(provider);
});
afterEach(async () => {
  under.verifier.close();
  await provider.stop();
});

const good = (lifetimeS = 100_000) => provider.issue({ subject: 'ada', lifetimeS });
const ofUnknownKey = (kid = 'unknown') =>
  provider.issue({ subject: 'ada', lifetimeS: 100_000, header: { kid } });
const messages = () => under.log.map(({ message }) => message);

describe('hard case 25: rotation', () => {
  test('a new key is found at its first token, if the last read is 5 s ago', async () => {
    const old = await good();
    expect(await under.verdict(old)).toBe('known');
    await provider.rotate({ overlap: true });
    const fresh = await good();
    expect(await under.verdict(fresh)).toBe(TOKEN_FAULTS['unknown-key']);
    await under.clock.advance(4999);
    expect(await under.verdict(fresh)).toBe(TOKEN_FAULTS['unknown-key']);
    expect(provider.reads.keys).toBe(1);
    await under.clock.advance(1);
    expect(await under.verdict(fresh)).toBe('known');
    expect(await under.verdict(old)).toBe('known');
    expect(provider.reads).toEqual({ discovery: 1, keys: 2 });
  });

  test('a removed key is refused from the next read on, also for tokens that were known', async () => {
    const old = await good();
    expect(await under.verdict(old)).toBe('known');
    await provider.rotate();
    await under.clock.advance(5000);
    expect(await under.verdict(old)).toBe('known');
    expect(await under.verdict(await good())).toBe('known');
    expect(await under.verdict(old)).toBe(TOKEN_FAULTS['unknown-key']);
  });

  test('reading the same keys again costs no verification of tokens that were known', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const token = await good();
    expect(await under.verdict(token)).toBe('known');
    await under.clock.advance(5000);
    expect(await under.verdict(await ofUnknownKey())).toBe(TOKEN_FAULTS['unknown-key']);
    expect(await under.verdict(token)).toBe('known');
    expect([provider.reads.keys, verify.mock.calls.length]).toEqual([2, 1]);
    // A minute later it is verified again.
    await under.clock.advance(55_000);
    expect(await under.verdict(token)).toBe('known');
    expect(verify).toHaveBeenCalledTimes(2);
    verify.mockRestore();
  });

  test('a key that was replaced under its id is refused', async () => {
    const old = await good();
    expect(await under.verdict(old)).toBe('known');
    await provider.rotate({ keys: [await newSigningKey(provider.keys[0]!.kid!, 'ES256')] });
    await under.clock.advance(600_000);
    expect(await under.verdict(old)).toBe(TOKEN_FAULTS.signature);
  });

  test('a key that was replaced under its id is refused at once for a token that is remembered', async () => {
    const old = await good();
    expect(await under.verdict(old)).toBe('known');
    await provider.rotate({ keys: [await newSigningKey(provider.keys[0]!.kid!, 'ES256')] });
    await under.clock.advance(5000);
    expect(await under.verdict(await ofUnknownKey())).toBe(TOKEN_FAULTS['unknown-key']);
    expect(await under.verdict(old)).toBe(TOKEN_FAULTS.signature);
  });

  test('keys are read again after 10 minutes, before they are used', async () => {
    const old = await good();
    expect(await under.verdict(old)).toBe('known');
    await provider.rotate();
    await under.clock.advance(599_999);
    expect(await under.verdict(old)).toBe('known');
    await under.clock.advance(1);
    expect(await under.verdict(old)).toBe(TOKEN_FAULTS['unknown-key']);
    expect(provider.reads).toEqual({ discovery: 2, keys: 2 });
  });
});

describe('hard case 25: a flood', () => {
  test('of 10,000 tokens with unknown keys costs one read in 5 s, and others are verified meanwhile', async () => {
    const known = await good();
    expect(await under.verdict(known)).toBe('known');
    const [head, ...rest] = (await ofUnknownKey()).split('.') as [string, string, string];
    const parsed = JSON.parse(Buffer.from(head, 'base64url').toString()) as object;
    const tokens = Array.from({ length: 5000 }, (_, index) => {
      const header = JSON.stringify({ ...parsed, kid: `unknown-${index}` });
      return [Buffer.from(header).toString('base64url'), ...rest].join('.');
    });
    const verdicts: string[] = [];
    for (let period = 0; period < 2; period++) {
      await under.clock.advance(5000);
      verdicts.push(...(await Promise.all(tokens.map((token) => under.verdict(token)))));
      expect(await under.verdict(known)).toBe('known');
      await under.clock.advance(4999);
      verdicts.push(await under.verdict(tokens[0]!));
      expect(provider.reads).toEqual({ discovery: 1, keys: 2 + period });
    }
    expect(new Set(verdicts)).toEqual(new Set([TOKEN_FAULTS['unknown-key']]));
  });

  test('at the start leads to one read, for which all wait', async () => {
    const token = await good();
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => under.verdict(token)));
    expect(new Set(verdicts)).toEqual(new Set(['known']));
    expect(provider.reads).toEqual({ discovery: 1, keys: 1 });
  });
});

const FAILURES: readonly (readonly [string, ProviderFailure, RegExp])[] = [
  ['resets connections', 'resets', /could not be read/],
  ['answers 500', { status: 500 }, /answered 500 instead of 200/],
  ['answers garbage', { status: 200, body: '\0\u{1}garbage' }, /is not a JSON/],
  ['answers HTML', { status: 200, body: '<!doctype html><p>Log in' }, /is not a JSON/],
  ['answers nothing', { status: 200 }, /is not a JSON/],
  ['answers null', { status: 200, body: 'null' }, /is not a JSON/],
  ['answers a list', { status: 200, body: '[]' }, /is not a JSON/],
  ['answers deep JSON', { status: 200, body: `{"keys":${'['.repeat(100_000)}` }, /is not a JSON/],
  ['redirects', { status: 302, location: '/jwks' }, /answered 302 instead of 200/],
  ['answers 50 MB', { status: 200, body: ' '.repeat(50_000_000) }, /more than 1048576 bytes/],
];

describe.each(['discovery', 'keys'] as const)(
  'hard case 25: while the provider, asked for %s,',
  (document) => {
    test.each(FAILURES)(
      '%s, nobody is known, and it is asked once a second',
      async (_what, failure, problem) => {
        const token = await good();
        provider.failures.set(document, failure);
        expect(await under.outcomeOf(token)).toEqual({ kind: 'unavailable', retryAfterS: 5 });
        expect(messages()).toEqual([expect.stringMatching(problem)]);
        const reads = { ...provider.reads };
        await under.clock.advance(999);
        const verdicts = await Promise.all(Array.from({ length: 20 }, () => under.verdict(token)));
        expect(new Set(verdicts)).toEqual(new Set(['unavailable']));
        expect(provider.reads).toEqual(reads);
        await under.clock.advance(1);
        expect(await under.verdict(token)).toBe('unavailable');
        expect(provider.reads[document]).toBe(reads[document] + 1);
        // The same problem is logged once.
        expect(under.log).toHaveLength(1);
        provider.recover();
        await under.clock.advance(1000);
        expect(await under.verdict(token)).toBe('known');
        expect(messages().slice(1)).toEqual(['The keys of the identity provider are read again']);
      },
    );

    test('hangs, requests end after 2 s', async () => {
      const token = await good();
      provider.failures.set(document, 'hangs');
      const verdict = under.verdict(token);
      await vi.waitFor(() => expect(provider.reads[document]).toBe(1));
      await under.clock.advance(2000);
      expect(await verdict).toBe('unavailable');
      expect(messages()).toEqual([expect.stringMatching(/did not answer completely in time/)]);
    });
  },
);

const discovery = (change: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks`, ...change });

describe('refused is a discovery document', () => {
  test.each([
    ['of another issuer', { issuer: 'https://other.test' }, /names another issuer/],
    ['without issuer', { issuer: undefined }, /names another issuer/],
    ['without keys', { jwks_uri: undefined }, /names no jwks_uri/],
    ['with keys without TLS', { jwks_uri: 'http://example.org/jwks' }, /names no jwks_uri/],
    ['with keys in a file', { jwks_uri: 'file:///etc/keys' }, /names no jwks_uri/],
    ['with keys in itself', { jwks_uri: 'data:,{"keys":[]}' }, /names no jwks_uri/],
  ])('%s', async (_what, change, problem) => {
    provider.failures.set('discovery', { status: 200, body: discovery(change) });
    expect(await under.verdict(await good())).toBe('unavailable');
    expect(messages()).toEqual([expect.stringMatching(problem)]);
    expect(provider.reads.keys).toBe(0);
  });
});

const keysAt = async (issuer: string) =>
  await discoverKeys({
    issuer,
    fetch: async () => Response.json({ issuer, jwks_uri: 'http://127.0.0.1:7626/keys' }),
    signal: new AbortController().signal,
  });

test('a provider elsewhere leads to no program of this machine', async () => {
  expect(await keysAt('https://login.example.com')).toMatchObject({ kind: 'problem' });
  expect(await keysAt('http://localhost:8080')).toMatchObject({ kind: 'discovered' });
});

describe('while the provider is down', () => {
  test('known keys remain good for an hour after they were read, and cost nobody a wait', async () => {
    const token = await good();
    expect(await under.verdict(token)).toBe('known');
    provider.fail('hangs');
    await under.clock.advance(600_000);
    // The first one finds out.
    const first = under.verdict(token);
    await vi.waitFor(() => expect(provider.reads.discovery).toBe(2));
    await under.clock.advance(2000);
    expect(await first).toBe('known');
    for (let passedS = 0; passedS < 2900; passedS += 100) {
      await under.clock.advance(100_000);
      expect(await under.verdict(token)).toBe('known');
    }
    await under.clock.advance(98_000);
    const last = under.verdict(token);
    await under.clock.advance(2000);
    expect(await last).toBe('unavailable');
  });

  test('a token of an unknown key is unavailable at once, and its key is looked for each second', async () => {
    expect(await under.verdict(await good())).toBe('known');
    provider.fail({ status: 503 });
    await under.clock.advance(5000);
    const token = await ofUnknownKey();
    expect(await under.verdict(token)).toBe('unavailable');
    expect(await under.verdict(token)).toBe('unavailable');
    expect(provider.reads.keys).toBe(2);
    await under.clock.advance(1000);
    expect(await under.verdict(token)).toBe('unavailable');
    // Its address is asked for again: it may have moved.
    expect(provider.reads).toEqual({ discovery: 2, keys: 2 });
    provider.recover();
    await under.clock.advance(1000);
    expect(await under.verdict(token)).toBe(TOKEN_FAULTS['unknown-key']);
  });

  test('without stale keys nobody is known after 10 minutes', async () => {
    under = new VerifierUnderTest(provider, { section: { staleKeysMs: 0 } });
    const token = await good();
    expect(await under.verdict(token)).toBe('known');
    provider.fail({ status: 503 });
    await under.clock.advance(600_000);
    expect(await under.verdict(token)).toBe('unavailable');
  });

  test('a token expires as always', async () => {
    const token = await good(30);
    expect(await under.verdict(token)).toBe('known');
    provider.fail('resets');
    await under.clock.advance(36_000);
    expect(await under.verdict(token)).toBe(TOKEN_FAULTS.expired);
  });
});

test('hard case 25: a provider that starts later is found without a restart', async () => {
  const token = await good();
  await provider.stop();
  expect(await under.verdict(token)).toBe('unavailable');
  expect(messages()).toEqual([expect.stringMatching(/ECONNREFUSED/)]);
  await provider.listen();
  await under.clock.advance(1000);
  expect(await under.verdict(token)).toBe('known');
});

test('no read begins after closing, and one under way ends', async () => {
  provider.fail('hangs');
  const verdict = under.verdict(await good());
  await vi.waitFor(() => expect(provider.reads.discovery).toBe(1));
  under.verifier.close();
  expect(await verdict).toBe('unavailable');
  await under.clock.advance(10_000);
  expect(await under.verdict(await good())).toBe('unavailable');
  expect(provider.reads.discovery).toBe(1);
  expect(under.log).toEqual([]);
});

test.each(['RS256', 'PS256', 'ES384', 'EdDSA'])(
  'tokens signed with %s are verified',
  async (alg) => {
    await provider.stop();
    provider = await IdentityProvider.start({ alg });
    under = new VerifierUnderTest(provider);
    expect(await under.verdict(await good())).toBe('known');
  },
);

test('a key that cannot be read, or is private, is refused as such', async () => {
  const [key] = provider.keys;
  for (const broken of [
    { ...key!, x: 'AAAA' },
    { ...key!, d: key!.d! },
  ]) {
    provider.failures.set('keys', { status: 200, body: JSON.stringify({ keys: [broken] }) });
    under = new VerifierUnderTest(provider);
    expect(await under.verdict(await good())).toBe(TOKEN_FAULTS['unusable-key']);
  }
});
