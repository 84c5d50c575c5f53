import { describe, expect, test } from 'vitest';
import type { AccessRule } from '@svc/contract';
import {
  type Caller,
  callerName,
  callerOfAddress,
  callerOfPeer,
  GATEWAY,
  INTERNET,
  isAdmitted,
  LOCAL,
} from '../../../host/http/access.ts';
import { ask, descriptorOf, get, JSON_BODY, start } from './http-harness.ts';

const OWN: Caller = { kind: 'service', project: 'shop', service: 'billing' };
const OTHER: Caller = { kind: 'service', project: 'bank', service: 'billing' };

const services = (...list: string[]): AccessRule => ({ allow: 'services', services: list });

describe('isAdmitted', () => {
  test.each<[AccessRule, Caller, boolean]>([
    [{ allow: 'internet' }, LOCAL, true],
    [{ allow: 'internet' }, INTERNET, true],
    [{ allow: 'internet' }, GATEWAY, true],
    [{ allow: 'services' }, GATEWAY, false],
    [services('billing'), GATEWAY, false],
    [{ allow: 'local' }, GATEWAY, false],
    [{ allow: 'internet' }, OWN, true],
    [{ allow: 'internet' }, OTHER, true],
    [{ allow: 'services' }, LOCAL, true],
    [{ allow: 'services' }, INTERNET, false],
    [{ allow: 'services' }, OWN, true],
    [{ allow: 'services' }, OTHER, false],
    [services('billing'), OWN, true],
    [services('billing'), OTHER, false],
    [services('billing'), INTERNET, false],
    [services('stock', 'billing.shop'), OWN, true],
    [services('billing.bank'), OTHER, true],
    [services('billing.bank'), OWN, false],
    [services('stock'), OWN, false],
    [services('stock'), LOCAL, true],
    [{ allow: 'local' }, LOCAL, true],
    [{ allow: 'local' }, INTERNET, false],
    [{ allow: 'local' }, OWN, false],
    [{ allow: 'nobody' }, LOCAL, true],
    [{ allow: 'nobody' }, INTERNET, false],
    [{ allow: 'nobody' }, OWN, false],
  ])('rule %j, caller %j: %s', (rule, caller, admitted) => {
    expect(isAdmitted(rule, caller, 'shop')).toBe(admitted);
  });

  test('a service of a project is no sibling of a run without a project', () => {
    expect(isAdmitted({ allow: 'services' }, OWN, undefined)).toBe(false);
    expect(isAdmitted(services('billing'), OWN, undefined)).toBe(false);
  });
});

describe('callerOfPeer', () => {
  test.each<[Caller | undefined, string | undefined, object]>([
    [INTERNET, undefined, INTERNET],
    [INTERNET, 'http/1.1', INTERNET],
    [OWN, 'http/1.1', OWN],
    [OTHER, 'http/1.1', OTHER],
    [OWN, 'svc-mount/1', GATEWAY],
    [OTHER, 'svc-mount/1', { kind: 'refused', reason: expect.stringMatching(/own project/) }],
    [INTERNET, 'svc-mount/1', { kind: 'refused', reason: expect.stringMatching(/own project/) }],
    [undefined, 'http/1.1', { kind: 'refused', reason: expect.stringMatching(/unrecognised/) }],
    [undefined, 'svc-mount/1', { kind: 'refused', reason: expect.stringMatching(/unrecognised/) }],
  ])('of a certificate of %j with the protocol %s', (caller, protocol, found) => {
    const named = caller?.kind === 'gateway' ? undefined : caller;
    expect(callerOfPeer({ caller: named, reason: 'It names no URI.', protocol }, 'shop')).toEqual(
      found,
    );
  });
});

describe('callerOfAddress', () => {
  test.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('%s is local', (address) => {
    expect(callerOfAddress(address)).toBe(LOCAL);
  });

  test.each(['10.0.0.1', '::ffff:10.0.0.1', '1270.0.0.1', '::', 'fe80::127.0.0.1', undefined])(
    '%s is the internet',
    (address) => {
      expect(callerOfAddress(address)).toBe(INTERNET);
    },
  );
});

test('a caller has the name that handlers see', () => {
  expect([LOCAL, INTERNET, OWN].map(callerName)).toEqual([
    'local',
    'internet',
    'service shop/billing',
  ]);
});

describe('access rules at the server', () => {
  test('a caller that is not admitted gets 403 and the handler does not run', async () => {
    let calls = 0;
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/a']], { allow: 'services' }),
      caller: INTERNET,
      handle: () => {
        calls += 1;
        throw new Error('it ran');
      },
    });
    const answer = await ask(port, get('/a'));
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toEqual({
      status: 403,
      error: "The caller 'internet' is not admitted to this path.",
    });
    expect(calls).toBe(0);
  });

  test("a route's rule goes before its endpoint's", async () => {
    const { port } = await start({
      descriptor: descriptorOf(
        [
          ['GET', '/open', { access: { allow: 'internet' } }],
          ['GET', '/shut'],
        ],
        { allow: 'nobody' },
      ),
      caller: INTERNET,
    });
    expect((await ask(port, get('/open'))).status).toBe(200);
    expect((await ask(port, get('/shut'))).status).toBe(403);
  });

  test('no header makes a caller somebody else', async () => {
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/a']], { allow: 'services' }),
      caller: INTERNET,
      project: 'shop',
    });
    const forged =
      'x-svc-caller: service shop/billing\r\nx-forwarded-for: 127.0.0.1\r\nforwarded: for=127.0.0.1\r\n';
    expect((await ask(port, get('/a', forged))).status).toBe(403);
  });

  test('a caller that is not admitted is refused before its body is read', async () => {
    const { port } = await start({
      descriptor: descriptorOf([['POST', '/a', JSON_BODY]], { allow: 'nobody' }),
      caller: INTERNET,
    });
    const answer = await ask(
      port,
      'POST /a HTTP/1.1\r\nhost: t\r\ncontent-type: image/png\r\ncontent-length: 5\r\n\r\n',
    );
    expect(answer.status).toBe(403);
  });

  test('the handler gets the identity of its caller', async () => {
    const callers: string[] = [];
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/a']]),
      caller: OWN,
      project: 'shop',
      handle: (request) => {
        callers.push(request.caller);
        return { kind: 'response', status: 204, headers: [], body: { kind: 'none' } };
      },
    });
    await ask(port, get('/a'));
    expect(callers).toEqual(['service shop/billing']);
  });
});
