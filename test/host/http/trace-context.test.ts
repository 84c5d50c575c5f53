import { describe, expect, test } from 'vitest';
import { requestTrace } from '../../../host/http/trace-context.ts';
import { parseTraceParent } from '../../../kit/trace-context.ts';
import { ask, descriptorOf, fieldsOf, get, ok, start } from './http-harness.ts';

const GOOD = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
/** The request's own span in the trace. */
const OWN = '00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000002a-01';
const NEW = '00-000000000000002a000000000000002a-000000000000002a-01';
const random = { next64: () => 42n };

const traced = (traceparent: string, tracestate?: string) =>
  requestTrace(
    fieldsOf({ traceparent, ...(tracestate === undefined ? {} : { tracestate }) }),
    random,
  ).metadata;

describe('requestTrace', () => {
  test('the request is a span of its own in a good trace, and passes its state on', () => {
    expect(traced(GOOD, 'a=1,b@c=2')).toEqual([
      ['traceparent', OWN],
      ['tracestate', 'a=1,b@c=2'],
    ]);
  });

  test('a later version is read as far as it is known', () => {
    const later = `01${GOOD.slice(2)}-more`;
    expect(traced(later)).toEqual([['traceparent', OWN]]);
  });

  test.each([
    ['upper case', GOOD.toUpperCase()],
    ['a zero trace id', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a zero parent id', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['the forbidden version', `ff${GOOD.slice(2)}`],
    ['something after version 00', `${GOOD}-x`],
    ['something glued on', `${GOOD}x`],
    ['too few digits', GOOD.slice(0, -1)],
    ['two of them', `${GOOD}, ${GOOD}`],
    ['a line break', `${GOOD}\n`],
    ['nothing', ''],
  ])('with %s there is a new trace, without the old state', (_what, value) => {
    expect(traced(value, 'a=1')).toEqual([['traceparent', NEW]]);
  });

  test.each([
    ['no equals sign', 'a'],
    ['an upper-case key', 'A=1'],
    ['an empty value', 'a='],
    ['the same key twice', 'a=1,a=2'],
    ['a character beyond ASCII', 'a=\u00e9'],
    ['a second equals sign', 'a=1=2'],
    ['too many members', Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(',')],
    ['too long a text', `a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(20)}`],
    ['nothing', ' , '],
  ])('a state with %s is dropped, and the trace kept', (_what, state) => {
    expect(traced(GOOD, state)).toEqual([['traceparent', OWN]]);
  });

  test("it tells its own span and the caller's", () => {
    const [good, own, fresh] = [GOOD, OWN, NEW].map(parseTraceParent);
    expect(requestTrace(fieldsOf({ traceparent: GOOD }), random)).toMatchObject({
      own,
      parent: good,
    });
    expect(requestTrace(fieldsOf({}), random)).toMatchObject({ own: fresh, parent: undefined });
  });
});

test('the handler gets the trace of the request, or a new one', async () => {
  const seen: unknown[] = [];
  const { port } = await start({
    descriptor: descriptorOf([['GET', '/a']]),
    handle: (_request, metadata) => {
      seen.push(metadata);
      return ok();
    },
  });
  await ask(port, get('/a', `traceparent: ${GOOD}\r\ntracestate: a=1\r\ntracestate: b=2\r\n`));
  await ask(port, get('/a', `traceparent: ${GOOD}\r\ntraceparent: ${GOOD}\r\n`));
  await ask(port, get('/a'));
  expect(seen).toEqual([
    [
      ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-01'],
      ['tracestate', 'a=1, b=2'],
    ],
    [['traceparent', '00-00000000000000020000000000000003-0000000000000004-01']],
    [['traceparent', '00-00000000000000050000000000000006-0000000000000007-01']],
  ]);
});
