// The answers that the proxy makes itself: their statuses, their sentences, and their one form.
import { describe, expect, test } from 'vitest';
import { ANSWER_RULES, answer } from '../../forward/answers.ts';
import { answerMessage } from '../../forward/own-answer.ts';
import { failure } from '../../http1/index.ts';
import { linesOf } from './support/heads.ts';

const cart = { service: 'cart', project: 'shop' };

describe('the twelve answers of the contract', () => {
  test.each([
    [
      answer('call-without-service', { servicesUrl: 'http://127.0.0.1:7630' }),
      400,
      /http:\/\/127\.0\.0\.1:7630\/<service>\/<path>/,
    ],
    [answer('call-of-no-service', { segment: 'a.b.c' }), 400, /"a\.b\.c"/],
    [answer('caller-not-admitted', { caller: cart }), 403, /\bshop\/cart\b/],
    [answer('mount-of-another-project', {}), 403, /another project's mount/],
    [answer('caller-unrecognised', {}), 403, /caller certificate is unrecognised/],
    [
      answer('closed-before-answering', { answerer: 'process' }),
      502,
      /^The process closed the connection/,
    ],
    [
      answer('closed-before-answering', { answerer: cart }),
      502,
      /^The service shop\/cart closed the connection/,
    ],
    [answer('another-service-answered', { called: cart }), 502, /\bshop\/cart\b/],
    [answer('process-not-listening', {}), 503, /^The process is not listening\.$/],
    [
      answer('service-not-found', { called: { service: 'cart', project: undefined } }),
      503,
      /^The service cart cannot be found\.$/,
    ],
    [
      answer('service-not-found', { called: { service: 'cart', project: 'bank' } }),
      503,
      /^The service cart of the project bank cannot be found\.$/,
    ],
    [
      answer('service-not-listening', { called: cart }),
      503,
      /^The service shop\/cart is not listening\.$/,
    ],
    [answer('mount-unavailable', { service: 'cart' }), 503, /^The service cart, .* mounted here/],
    [
      answer('answer-timed-out', { answerer: 'process', timeoutMs: 60_000 }),
      504,
      /^The process did not begin to answer within 60 seconds\.$/,
    ],
    [
      answer('answer-timed-out', { answerer: cart, timeoutMs: 60_000 }),
      504,
      /^The service shop\/cart did not begin to answer within 60 seconds\.$/,
    ],
  ])('$kind', ({ status, error }, expected, sentence) => {
    expect(status).toBe(expected);
    expect(error).toMatch(sentence);
  });
});

describe('every answer', () => {
  const all = [
    answer('call-without-service', { servicesUrl: 'http://127.0.0.1:7630' }),
    answer('call-of-no-service', { segment: '%F0%9F' }),
    answer('request-malformed', { failure: failure('head-too-large') }),
    answer('response-malformed', { answerer: 'process', failure: failure('bad-chunk-size') }),
    answer('path-ambiguous', {}),
    answer('too-many-requests', {}),
    answer('proxy-failed', {}),
  ];

  test.each(all)('has the header and the body of the proxy: $kind', (one) => {
    const { status, reason, fields, body } = answerMessage(one);
    expect(status).toBe(one.status);
    expect(reason).not.toBe('');
    expect(linesOf(fields)).toEqual([
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'X-Svc-Answered-By: proxy',
    ]);
    expect(JSON.parse(body.toString())).toEqual({ error: one.error });
  });

  test('has the status of the failure that it reports, which closes the connection', () => {
    const statuses = (
      ['bad-target', 'head-timeout', 'body-too-large', 'head-too-large'] as const
    ).map((code) => answer('request-malformed', { failure: failure(code) }));
    expect(statuses.map(({ status }) => status)).toEqual([400, 408, 413, 431]);
    expect(statuses.every(({ closes }) => closes)).toBe(true);
    expect(
      answer('response-malformed', { answerer: 'process', failure: failure('bad-target') }).status,
    ).toBe(502);
  });

  test('shows a segment escaped and short', () => {
    const { error } = answer('call-of-no-service', {
      segment: `\u001b[2J\u202e${'x'.repeat(5000)}`,
    });
    expect(error).toContain('"\\u{1b}[2J\\u{202e}x');
    expect(error.length).toBeLessThan(400);
  });

  test('has a rule that says when it is made', () => {
    for (const { when } of Object.values(ANSWER_RULES)) expect(when).toMatch(/^[a-z].*[^.]$/);
    expect(Object.keys(ANSWER_RULES).length).toBeGreaterThanOrEqual(17);
  });
});
