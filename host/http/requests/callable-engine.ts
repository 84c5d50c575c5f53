// CallableEngine: the engine as the handlers of a shard call it, which may lead to another shard.
import type { EntityEngine } from '../../engine/entity-engine.ts';
import type { PendingCall } from '../../engine/entity/entity-call.ts';
import type { Outcome } from './recorded-calls.ts';

/** A call that has no answer yet. */
export interface RoutedCall extends PendingCall {
  /** Whether the call was sent to another shard. */
  readonly isRemote?: boolean;
}

export interface CallableEngine extends Pick<EntityEngine, 'call' | 'readEvents' | 'changeTimers'> {
  readonly speculate?: (...call: Parameters<EntityEngine['speculate']>) => Outcome | RoutedCall;
}
