// The origin of a trace, and the event that a call has stored, on the page of the trace.
import type { HistoryStep, TraceDetail } from '@svc/contract';
import { expect, test } from 'vitest';
import { eventOfTrace } from '../../../../console/page/view/trace-event.ts';
import { isOfConsole } from '../../../../console/page/view/trace-origin.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

function trace(remoteParent: string | null): TraceDetail {
  return { traceId: TRACE, remoteParent } as TraceDetail;
}

function step(seq: number, traceId: string | null, time: string | null): HistoryStep {
  return { seq, traceId, time } as HistoryStep;
}

test('a request that the console sent is not continued from another service', () => {
  expect(isOfConsole(trace(TRACE.slice(0, 16)))).toBe(true);
  expect(isOfConsole(trace('00f067aa0ba902b7'))).toBe(false);
  // Some tracers use this id for their first span.
  expect(isOfConsole(trace(TRACE.slice(16)))).toBe(false);
  expect(isOfConsole(trace(null))).toBe(false);
});

test('a call leads to the first event that it stored, also when its trace stored others before', () => {
  const steps = [
    step(1, 'ab', '2026-11-22T03:00:00.000Z'),
    step(2, TRACE, '2026-11-22T03:00:00.100Z'),
    step(3, TRACE, '2026-11-22T03:00:00.250Z'),
    step(4, TRACE, '2026-11-22T03:00:00.250Z'),
    step(5, 'cd', '2026-11-22T03:00:00.300Z'),
  ];
  expect(eventOfTrace(steps, TRACE, '2026-11-22T03:00:00.100Z')).toBe(2);
  expect(eventOfTrace(steps, TRACE, '2026-11-22T03:00:00.101Z')).toBe(3);
  expect(eventOfTrace(steps, 'cd', '2026-11-22T03:00:00.000Z')).toBe(5);
});

test('a clock that went back leads to the last event of the trace, and no event leads nowhere', () => {
  const steps = [step(1, TRACE, '2026-11-22T03:00:00.000Z'), step(2, TRACE, null)];
  expect(eventOfTrace(steps, TRACE, '2026-11-22T03:00:01.000Z')).toBe(2);
  expect(eventOfTrace(steps, 'cd', '2026-11-22T03:00:00.000Z')).toBeUndefined();
});
