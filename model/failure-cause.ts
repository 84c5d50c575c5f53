// FailureCause: who is to blame for a failure of the runtime's code, so that attempts are counted only where another attempt
// does not have to wait for the runtime.
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import { GuestFault } from './guest-fault.ts';

/**
 * - `runtime`: the machine, the load, or a stop. It passes without a change of the module.
 * - `module`: the module, or what is stored, although the runtime reports it.
 * - `mistake`: a request for something that the runtime does not do, at any attempt.
 */
export type FailureCause = 'runtime' | 'module' | 'mistake';

/** Failures of a command that are the module's own, although the runtime reports them with a code. */
export const FAULTS_OF_MODULES: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_EVENT_UNREADABLE',
  'SVC_STATE_CHANGED',
  // Timers that the command sets cannot be stored.
  'SVC_TIMERS_FULL',
  'SVC_TIMER_INVALID',
]);
/** Failures that last until the module, or what is stored, is changed. Whether an entity is tried again depends on others. */
const LASTING: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_ENTITY_HELD_BACK',
  'SVC_JOURNAL_CORRUPT',
  'SVC_VIEW_STOPPED',
]);
const MISTAKES: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_IDEMPOTENCY_KEY_INVALID',
  'SVC_TIMER_INVALID',
  'SVC_SERVICE_CALL_DENIED',
  'SVC_FIND_INVALID',
  'SVC_CURSOR_INVALID',
]);

/** Returns the cause of a failure that ended a call, a query of a view, or a change of a timer. */
export function failureCause(failure: unknown): FailureCause {
  if (failure instanceof GuestFault) return 'module';
  if (!(failure instanceof SvcError)) return 'runtime';
  const { code } = failure;
  if (MISTAKES.has(code)) return 'mistake';
  return FAULTS_OF_MODULES.has(code) || LASTING.has(code) ? 'module' : 'runtime';
}
