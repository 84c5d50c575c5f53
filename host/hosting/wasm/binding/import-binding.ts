// The imports of a module: clock, journal, routing, and the intrinsics of its own resource. The first three may be
// called only in the phases that allow them. In an instance that can suspend, all but the time suspend the module's
// stack while the host waits. In an instance that cannot, `call` and `find` return at once or throw MustWait, and the others
// always throw MustWait.
import type { CoreInterface } from '../binary/core-interface.ts';
import { PHASE } from './call-state.ts';
import { type ImportTarget, MUST_WAIT } from './host-call.ts';
import { findAndWait, findAtOnce, findRows, readJournal } from './journal-imports.ts';
import { callAndWait, callAtOnce, callEntity } from './routing-imports.ts';
import { requestService } from './service-imports.ts';
import { cancelTimer, setTimer } from './timer-imports.ts';

const CLOCK_HELP =
  ' Commands, queries and handlers have the time, a fold has none: put it into the event.';

/** Creates the import object. It has no prototype, so it contains only the names listed here. */
export function createImports(
  target: ImportTarget,
  world: CoreInterface,
  suspending: boolean,
): object {
  const { state } = target;
  return bare({
    [world.clock]: bare({
      'now-ms': () => {
        state.enter('clock.now-ms', state.phase !== PHASE.closed, CLOCK_HELP);
        return state.nowMs;
      },
      ...(world.hasTimersAndViews
        ? {
            'set-timer': suspending
              ? new WebAssembly.Suspending(setTimer.bind(undefined, target))
              : mustWait(() => state.enterTimerCall('clock.set-timer')),
            'cancel-timer': suspending
              ? new WebAssembly.Suspending(cancelTimer.bind(undefined, target))
              : mustWait(() => state.enterTimerCall('clock.cancel-timer')),
          }
        : {}),
    }),
    [world.journal]: bare({
      read: suspending
        ? new WebAssembly.Suspending(readJournal.bind(undefined, target))
        : mustWait(() => state.enterHandlerCall('journal.read')),
      ...(world.hasTimersAndViews
        ? {
            find: suspending
              ? new WebAssembly.Suspending(findRows.bind(undefined, target, findAndWait))
              : findRows.bind(undefined, target, findAtOnce),
          }
        : {}),
    }),
    [world.routing]: bare({
      call: suspending
        ? new WebAssembly.Suspending(callEntity.bind(undefined, target, callAndWait))
        : callEntity.bind(undefined, target, callAtOnce),
      ...(world.hasTimersAndViews
        ? {
            request: suspending
              ? new WebAssembly.Suspending(requestService.bind(undefined, target))
              : mustWait(() => state.enterServiceCall()),
          }
        : {}),
    }),
    [world.entityResource]: bare({
      '[resource-new]instance': (rep: number) => {
        state.enter('resource-new', target.exports !== undefined);
        return state.newHandle(rep);
      },
      '[resource-rep]instance': (handle: number) => {
        state.enter('resource-rep', target.exports !== undefined);
        return state.repOf(handle);
      },
      '[resource-drop]instance': (handle: number) => {
        state.enter('resource-drop', target.exports !== undefined);
        dropResource(target, state.takeHandle(handle));
      },
    }),
  });
}

/** Returns an import for an instance that cannot suspend: it counts its call, and aborts the handler. */
function mustWait(enter: () => void): () => never {
  return () => {
    enter();
    throw MUST_WAIT;
  };
}

function bare<T extends object>(properties: T): T {
  return Object.assign(Object.create(null) as T, properties);
}

/** Runs the destructor of a resource that the module itself drops, in the phase `closed`. */
function dropResource({ state, exports }: ImportTarget, rep: number): void {
  const { phase } = state;
  state.phase = PHASE.closed;
  exports?.destroy?.(rep);
  state.phase = phase;
}
