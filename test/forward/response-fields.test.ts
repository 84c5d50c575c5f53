// The fields of a response: all pass as they were written, but those of the hop and a process's claim to be the proxy.
import { describe, expect, test } from 'vitest';
import { passedResponseFields, type Responder } from '../../forward/response-fields.ts';
import { fieldsOf, linesOf } from './support/heads.ts';

const passed = (lines: readonly string[], responder: Responder = 'process') =>
  linesOf(passedResponseFields(fieldsOf(lines), responder));

describe('P7: a response', () => {
  test('passes with its fields in their order, case and repetition', () => {
    const lines = [
      'set-cookie: a=1',
      'Content-Type: text/html; charset=latin1',
      'Set-Cookie: b=2',
      'X-Empty: ',
      'X-Latin: \u00e4\u00ff',
      'SERVER: x',
      'Server: y',
      'Content-Length: 5',
      'X-Svc-Custom: 1',
      'X-Forwarded-Host: a',
    ];
    expect(passed(lines)).toEqual(lines);
    expect(passed(lines, 'service')).toEqual(lines);
  });

  test('gets no field that it did not have', () => {
    expect(passed([])).toEqual([]);
  });

  test.each(['X-Svc-Answered-By', 'x-svc-answered-by', 'X_Svc_Answered_By', 'X-SVC_ANSWERED-BY'])(
    'of the process cannot claim to be made by the proxy: %s',
    (name) => {
      const claim = `${name}: proxy`;
      expect(passed(['A: 1', claim, 'B: 2', claim])).toEqual(['A: 1', 'B: 2']);
    },
  );

  test('of a service keeps the mark of its proxy, whatever Connection nominates', () => {
    const mark = 'X-Svc-Answered-By: proxy';
    expect(passed(['Connection: x-svc-answered-by', mark], 'service')).toEqual([mark]);
  });

  test('of an instance keeps the mark of a proxy, and cannot claim to be made by the gateway', () => {
    const mark = 'X-Svc-Answered-By: proxy';
    const claims = ['X-Svc-Answered-By: gateway', 'x_svc_answered_by: Gateway'];
    expect(passed([mark, ...claims], 'instance')).toEqual([mark]);
  });

  test('has no fields of the hop', () => {
    const hop = [
      'Connection: keep-alive, X-Hop',
      'Keep-Alive: timeout=5',
      'Proxy-Authenticate: Basic',
      'Proxy-Connection: close',
      'Trailer: X-T',
      'Transfer-Encoding: chunked',
      'Upgrade: h2c',
      'X-Hop: 1',
    ];
    expect(passed(['A: 1', ...hop])).toEqual(['A: 1']);
  });

  test('keeps Content-Length, although Connection nominates it', () => {
    expect(passed(['Connection: content-length', 'Content-Length: 5'])).toEqual([
      'Content-Length: 5',
    ]);
  });
});
