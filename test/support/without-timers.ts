// The functions with which a handler changes timers and calls other services, for tests whose handlers do neither: each of them
// rejects.
import type { EntityEngine } from '../../host/engine/entity-engine.ts';
import type { HostCalls } from '../../model/guest.ts';

const unexpected = (): Promise<never> =>
  Promise.reject(new Error('this test has no timers and no other services'));

export const WITHOUT_TIMERS: Pick<HostCalls, 'setTimer' | 'cancelTimer' | 'request'> &
  Pick<EntityEngine, 'changeTimers'> = {
  setTimer: unexpected,
  cancelTimer: unexpected,
  changeTimers: unexpected,
  request: unexpected,
};
