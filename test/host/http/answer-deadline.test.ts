import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AnswerDeadline } from '../../../host/http/answer-deadline.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('the deadline of an answer', () => {
  const expired = vi.fn<() => void>();
  let deadline: AnswerDeadline;
  beforeEach(() => {
    expired.mockClear();
    deadline = new AnswerDeadline(100, expired);
  });

  test('expires once, after its time', () => {
    deadline.start();
    vi.advanceTimersByTime(99);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  test('does not expire while it is paused, and has its whole time afterwards', () => {
    deadline.start();
    vi.advanceTimersByTime(50);
    deadline.pause();
    vi.advanceTimersByTime(1000);
    deadline.resume();
    vi.advanceTimersByTime(99);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  test('may be paused before it starts', () => {
    deadline.pause();
    deadline.start();
    vi.advanceTimersByTime(1000);
    expect(expired).not.toHaveBeenCalled();
    deadline.resume();
    vi.advanceTimersByTime(100);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  test('that has ended or expired never expires', () => {
    deadline.start();
    deadline.end();
    deadline.pause();
    deadline.resume();
    vi.advanceTimersByTime(1000);
    expect(expired).not.toHaveBeenCalled();
    deadline.start();
    vi.advanceTimersByTime(100);
    deadline.pause();
    deadline.resume();
    vi.advanceTimersByTime(1000);
    expect(expired).toHaveBeenCalledTimes(1);
  });
});
