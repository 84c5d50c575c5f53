// ServiceDispatchers: the dispatchers of timers and events of a service that runs a module, made from its settings.
import type { Log } from '@svc/kit/log';
import type { Supervisor } from '../shards/supervisor.ts';
import { ConsumerDispatch } from './consumer-dispatch.ts';
import type { RunOptions } from './run-options.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings } from './settings.ts';
import { TimerDispatch } from './timer-dispatch.ts';

interface DispatchingService {
  readonly settings: Settings<SettingsSections>;
  readonly env: RunOptions['env'];
  readonly log: Log;
  /** Executes what the dispatchers send. */
  readonly supervisor: Supervisor;
}

export function timerDispatch({
  settings,
  env,
  log,
  supervisor,
}: DispatchingService): TimerDispatch {
  return new TimerDispatch({
    settings: settings.sections.timers,
    shards: supervisor.count,
    env,
    log,
    relink: () => supervisor.linkWork('firings'),
  });
}

export function consumerDispatch({
  settings,
  env,
  log,
  supervisor,
}: DispatchingService): ConsumerDispatch {
  const { consumers, log: logLimits } = settings.sections;
  return new ConsumerDispatch({
    settings: consumers,
    logLimits,
    shards: supervisor.count,
    env,
    log,
    relink: () => supervisor.linkWork('deliveries'),
  });
}
