// The URLs that a subscription may have, and those that are refused when it is stored.
import { describe, expect, test } from 'vitest';
import { ReceiverAddresses } from '../../../webhooks/sending/receiver-addresses.ts';
import { checkedContent } from '../../../webhooks/subscriptions/subscription-request.ts';
import { ADDRESS_LIMITS, contentOf, linesOf, problemsOf } from './checked-requests.ts';

describe('a URL', () => {
  test.each([
    'receiver.example/hook',
    '/hook',
    '//receiver.example/',
    'https:receiver.example',
    'https:/receiver.example',
    'https:///receiver.example',
    'https:\\\\receiver.example\\',
    'https://receiver.example\\@other.example/',
    'https://',
    'https://?a',
    ' https://receiver.example/',
    'https://receiver.example/\n',
    'https://rec\teiver.example/',
    'https://receiver.example/a b',
    'https://receiver.example/\ud800',
    'https://receiver.example:65536/',
    'https://[::1/',
    'javascript:alert(1)',
    '',
  ])('%j is not absolute', (url) => {
    expect(problemsOf({ url })).toEqual([
      expect.stringMatching(/^\/url is ".*": write an absolute/),
    ]);
  });

  test.each([
    'https://user@receiver.example/',
    'https://user:secret@receiver.example/',
    'https://@receiver.example/',
    'https://:@receiver.example/',
  ])('%s has user information, which is not repeated', (url) => {
    const problems = problemsOf({ url });
    expect(problems).toEqual([expect.stringMatching(/^\/url has a user name or a password/)]);
    expect(problems.join()).not.toContain('secret');
  });

  test.each([
    'https://receiver.example/#a',
    'https://receiver.example#',
    'https://receiver.example/?a#b',
  ])('%s has a fragment', (url) => {
    expect(problemsOf({ url })).toEqual([expect.stringMatching(/^\/url has a fragment/)]);
  });

  test('is at most 2,048 characters long', () => {
    const longest = `https://receiver.example/${'a'.repeat(2_048 - 25)}`;
    expect(problemsOf({ url: longest })).toEqual([]);
    expect(problemsOf({ url: `${longest}a` })).toEqual(['/url is longer than 2048 characters']);
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0x7f.1../',
    'http://017700000001/',
    'http://①②⑦.0.0.1/',
    'http://127.0.0.1./',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1:8080/',
    'http://localhost/',
    'http://LOCALHOST:3000/',
    'http://localhost./',
    'http://localhost../',
    'http://api.localhost./',
    'https://receiver.example:25/',
    'http://93.184.215.14:25/',
    'https://receiver.example:1023/',
  ])('%s leads nowhere that a delivery may go', (url) => {
    expect(problemsOf({ url })).toEqual([
      expect.stringMatching(/^\/url leads to an address or a port/),
    ]);
  });

  test.each([
    'http://receiver.example',
    'HTTPS://receiver.example:443/?q',
    'http://receiver.example:1024/a@b',
    'https://93.184.215.14/',
    'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://localhost.example/',
  ])('%s may be one', (url) => {
    expect(contentOf({ url }).url).toBe(url);
  });

  test.each([
    'http://127.0.0.1:8080/',
    'http://localhost./',
    'http://10.1.2.3/',
    'http://x.inside.localhost/',
  ])('%s may be one if the operator admits it', (url) => {
    const admitted = { networks: ['127.0.0.0/8', '10.0.0.0/8'], domains: ['inside.localhost'] };
    const open = new ReceiverAddresses({ admitted, ...ADDRESS_LIMITS });
    expect(linesOf(checkedContent({ url }, open))).toEqual([]);
  });
});
