// The functions with which a handler changes timers, for tests whose handlers change none: each of them rejects.
import type { EntityEngine } from '../../host/engine/entity-engine.ts';
import type { HostCalls } from '../../host/engine/needs/guest.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('this test has no timers'));

export const WITHOUT_TIMERS: Pick<HostCalls, 'setTimer' | 'cancelTimer'> &
  Pick<EntityEngine, 'changeTimers'> = {
  setTimer: unexpected,
  cancelTimer: unexpected,
  changeTimers: unexpected,
};
