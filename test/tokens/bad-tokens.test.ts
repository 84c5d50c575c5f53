// Every kind of bad token is refused for its own fault, without a byte of it in the reason, and without a read of keys for what
// can be refused without one.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKeyInput,
  sign,
} from 'node:crypto';
import { CompactEncrypt, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { challengeOf } from '../../tokens/authorization-header.ts';
import { TOKEN_FAULTS } from '../../tokens/token-fault.ts';
import { IdentityProvider, newSigningKey } from '../support/identity-provider/identity-provider.ts';
import { VerifierUnderTest } from './verifier-under-test.ts';

let provider: IdentityProvider;
let under: VerifierUnderTest;

beforeAll(async () => {
  provider = await IdentityProvider.start({ alg: 'RS256' });
});
beforeEach(() => {
  under = new VerifierUnderTest(provider);
});
afterAll(() => provider.stop());

function base64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  );
}

function claims(): Record<string, unknown> {
  const nowS = Math.floor(Date.now() / 1000);
  return { iss: provider.issuer, aud: provider.audience, sub: 'ada', iat: nowS, exp: nowS + 60 };
}

function header(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { alg: 'RS256', kid: provider.keys[0]!.kid, typ: 'at+jwt', ...more };
}

/** Signs with the provider's own key whatever header and claims are given, which jose would not. */
function signed(head: unknown, body: unknown): string {
  const input = `${base64(head)}.${base64(body)}`;
  const key = createPrivateKey({ key: provider.keys[0] as JsonWebKeyInput['key'], format: 'jwk' });
  return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
}

/** The fault for which a token is refused; undefined if it is not. */
async function faultOf(token: string): Promise<string | undefined> {
  const outcome = await under.outcomeOf(token);
  if (outcome.kind !== 'refused') return undefined;
  const found = Object.entries(TOKEN_FAULTS).find(([, reason]) => reason === outcome.reason);
  return found?.[0];
}

/** The fault of a token that is refused without a read of keys. */
async function unreadFaultOf(token: string): Promise<string | undefined> {
  const fault = await faultOf(token);
  return provider.reads.discovery === 0 ? fault : 'found after a read of keys';
}

test('a good token is known, also with several audiences and with any type of access tokens', async () => {
  expect(await under.verdict(signed(header(), claims()))).toBe('known');
  expect(
    await under.verdict(signed(header(), { ...claims(), aud: ['x', provider.audience] })),
  ).toBe('known');
  for (const typ of ['JWT', 'jwt', 'application/at+jwt', 'AT+JWT', undefined])
    expect(await under.verdict(signed(header({ typ }), claims()))).toBe('known');
});

describe('hard case 24: refused without asking for keys is', () => {
  beforeEach(() => {
    provider.reads.discovery = 0;
  });

  test.each(['none', 'None', 'NONE', 'nOnE'])('the algorithm %s', async (alg) => {
    expect(await unreadFaultOf(`${base64(header({ alg }))}.${base64(claims())}.`)).toBe(
      'algorithm',
    );
    expect(await unreadFaultOf(`${base64({ alg })}.${base64(claims())}.x`)).toBe('algorithm');
  });

  test('HS256 with the public key as secret, in each of its forms', async () => {
    const key = createPublicKey({ key: provider.keys[0] as JsonWebKeyInput['key'], format: 'jwk' });
    const input = `${base64(header({ alg: 'HS256' }))}.${base64(claims())}`;
    const secrets = [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(key.export({ format: 'jwk' })),
    ];
    for (const secret of secrets)
      expect(
        await unreadFaultOf(
          `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`,
        ),
      ).toBe('algorithm');
  });

  test('a critical parameter, b64 as well', async () => {
    expect(await unreadFaultOf(signed(header({ crit: ['exp'], exp: 1 }), claims()))).toBe(
      'critical-header',
    );
    expect(await unreadFaultOf(signed(header({ crit: ['b64'], b64: false }), claims()))).toBe(
      'critical-header',
    );
    expect(await unreadFaultOf(signed(header({ crit: ['b64'], b64: true }), claims()))).toBe(
      'critical-header',
    );
    expect(await unreadFaultOf(signed(header({ crit: [] }), claims()))).toBe('critical-header');
  });

  test('an encrypted token', async () => {
    const { publicKey } = await generateKeyPair('RSA-OAEP-256');
    const token = await new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
      .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
      .encrypt(publicKey);
    expect(await unreadFaultOf(token)).toBe('encrypted');
  });

  test.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', '', 7, null])('the type %j', async (typ) => {
    expect(await unreadFaultOf(signed(header({ typ }), claims()))).toBe('wrong-type');
  });

  test('another issuer: foreign, with a slash, in another case, no text, none', async () => {
    const { issuer } = provider;
    for (const iss of [
      'https://other.test',
      `${issuer}/`,
      issuer.toUpperCase(),
      [issuer],
      7,
      undefined,
    ])
      expect(await unreadFaultOf(signed(header(), { ...claims(), iss }))).toBe('issuer');
  });

  test.each([
    'x',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    '..',
    `${base64('null')}.${base64({})}.x`,
    `${base64({ alg: 'RS256' })}.${base64('[]')}.x`,
    `${base64({ alg: 'RS256' })}.${base64('null')}.x`,
    `${base64('{"alg":"RS256"')}.${base64({})}.x`,
    `${'A'.repeat(16_000)}.${base64({})}.x`,
    base64('['.repeat(10_000)),
  ])('the text %.40s', async (text) => {
    expect(await unreadFaultOf(text)).toBe('malformed');
  });

  test('a key id that is no text', async () => {
    for (const kid of [7, {}, null, ['key-1']])
      expect(await unreadFaultOf(signed(header({ kid }), claims()))).toBe('malformed');
  });
});

describe('hard case 24: refused is', () => {
  test('another audience, none, and one that only contains the right one', async () => {
    for (const aud of ['https://api.other.test', `${provider.audience}/`, [], {}, undefined, true])
      expect(await faultOf(signed(header(), { ...claims(), aud }))).toBe('audience');
  });

  test('a subject that is empty, a number, missing, too long, or has control characters', async () => {
    const subjects = [
      '',
      42,
      null,
      undefined,
      ['ada'],
      'a'.repeat(256),
      'a'.repeat(300),
      'a\nb',
      'a\0',
      '\u{85}',
      '\ud800',
    ];
    for (const sub of subjects)
      expect(await faultOf(signed(header(), { ...claims(), sub }))).toBe('subject');
    expect(await under.verdict(signed(header(), { ...claims(), sub: 'a'.repeat(255) }))).toBe(
      'known',
    );
  });

  test('an expired token, one that is not yet valid, and one without an expiry time', async () => {
    const nowS = Math.floor(Date.now() / 1000);
    expect(await faultOf(signed(header(), { ...claims(), exp: nowS - 10 }))).toBe('expired');
    expect(await faultOf(signed(header(), { ...claims(), nbf: nowS + 60 }))).toBe('not-yet-valid');
    for (const exp of [undefined, 'tomorrow', null, String(nowS + 60)])
      expect(await faultOf(signed(header(), { ...claims(), exp }))).toBe('no-expiry');
    const endless = JSON.stringify({ ...claims(), exp: 0 }).replace('"exp":0', '"exp":1e400');
    expect(await faultOf(signed(header(), endless))).toBe('no-expiry');
  });

  test('clocks may differ by 5 s', async () => {
    const nowS = Math.floor(under.clock.nowMs() / 1000);
    expect(await under.verdict(signed(header(), { ...claims(), exp: nowS - 4 }))).toBe('known');
    expect(await under.verdict(signed(header(), { ...claims(), nbf: nowS + 5 }))).toBe('known');
    expect(await faultOf(signed(header(), { ...claims(), exp: nowS - 5 }))).toBe('expired');
  });

  test('a key that the token brings along or leads to', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    for (const more of [
      { jwk },
      { jku: `${provider.issuer}/jwks` },
      { x5u: 'http://127.0.0.1:9/x' },
    ]) {
      const forge = async (kid: string | undefined) =>
        await new SignJWT(claims())
          .setProtectedHeader({
            ...header(more),
            alg: 'RS256',
            ...(kid === undefined ? {} : { kid }),
          })
          .sign(privateKey);
      expect(await faultOf(await forge(provider.keys[0]!.kid))).toBe('signature');
      expect(await faultOf(await forge('brought-along'))).toBe('unknown-key');
      // The real key counts, whatever else the header says: some providers always send jku.
      expect(await under.verdict(signed(header(more), claims()))).toBe('known');
    }
  });

  test('an algorithm that the key is not for', async () => {
    const key = { ...provider.keys[0]!, alg: 'PS256' };
    const token = await new SignJWT(claims())
      .setProtectedHeader({ ...header(), alg: 'PS256' })
      .sign(await importJWK(key, 'PS256'));
    expect(await faultOf(token)).toBe('unknown-key');
  });

  test('a changed payload, header or signature', async () => {
    const [head, body, signature] = signed(header(), claims()).split('.') as [
      string,
      string,
      string,
    ];
    expect(await faultOf(`${head}.${base64({ ...claims(), sub: 'root' })}.${signature}`)).toBe(
      'signature',
    );
    expect(await faultOf(`${base64(header({ cty: 'x' }))}.${body}.${signature}`)).toBe('signature');
    expect(await faultOf(`${head}.${body}.${'A'.repeat(342)}`)).toBe('signature');
    expect(await faultOf(`${head}.${body}.`)).toBe('signature');
  });

  test('a key of RSA with less than 2,048 bits', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const before = provider.keys;
    const short = {
      ...privateKey.export({ format: 'jwk' }),
      kid: 'short',
      alg: 'RS256',
      use: 'sig',
    };
    const { kty, n, e } = short;
    const published = JSON.stringify({ keys: [{ kty, n, e, kid: 'short', alg: 'RS256' }] });
    provider.failures.set('keys', { status: 200, body: published });
    provider.keys = [short];
    expect(await faultOf(signed(header(), claims()))).toBe('unusable-key');
    provider.keys = before;
    provider.recover();
  });

  test('a token without a key id if several keys could be meant', async () => {
    const token = signed(header({ kid: undefined }), claims());
    expect(await under.verdict(token)).toBe('known');
    const before = provider.keys;
    await provider.rotate({ keys: [...before, await newSigningKey('other', 'RS256')] });
    under = new VerifierUnderTest(provider);
    expect(await faultOf(token)).toBe('several-keys');
    await provider.rotate({ keys: before });
  });
});

test('roles that only look like that of the administrator give nothing', async () => {
  const admin = { realm_access: { roles: ['platform-admin'] } };
  expect((await under.caller(signed(header(), { ...claims(), ...admin }))).platformAdmin).toBe(
    true,
  );
  const lookalikes: readonly unknown[] = [
    { roles: 'platform-admin' },
    { roles: ['Platform-Admin', 'platform-admin-x', ['platform-admin']] },
    { roles: { 'platform-admin': true, length: 1, 0: 'platform-admin' } },
    ['platform-admin'],
    'platform-admin',
    null,
  ];
  const bodies = [
    ...lookalikes.map((realm_access) => JSON.stringify({ ...claims(), realm_access })),
    JSON.stringify({ ...claims(), roles: ['platform-admin'] }),
    JSON.stringify(claims()).replace('{', `{"__proto__":${JSON.stringify(admin)},`),
  ];
  for (const body of bodies)
    expect((await under.caller(signed(header(), body))).platformAdmin).toBe(false);
});

test('no answer and no line of the log repeats a part of a token', async () => {
  const secret = 'sEcReT-pArT';
  const tokens = [
    signed(header({ kid: secret }), claims()),
    signed(header({ alg: secret }), claims()),
    signed(header({ typ: secret }), claims()),
    signed(header(), { ...claims(), iss: secret }),
    signed(header(), { ...claims(), aud: secret }),
    signed(header(), { ...claims(), sub: `${secret}\n` }),
    secret,
    `"${secret}"`,
  ];
  for (const token of tokens) {
    const outcome = await under.outcomeOf(token);
    if (outcome.kind !== 'refused') throw new Error(outcome.kind);
    expect(challengeOf(outcome) + outcome.reason).not.toContain(secret);
  }
  expect(JSON.stringify(under.log)).not.toContain(secret);
});
