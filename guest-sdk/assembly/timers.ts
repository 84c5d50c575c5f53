// Timers: sets and cancels timers from handlers of endpoints.
import { EntityClient, callError } from "./client";
import { Done } from "./done";
import { clock, host, wellFormed } from "./host";
import { Result } from "./result";
import { DeferredCall, Due, SetTimer } from "./timer";

/** Memory for a `timer` of the WIT. */
const timerAt: usize = memory.data(72, 8);

export class Timers {
  /**
   * Sets a timer of the entity that `call` goes to, and waits until it is stored. It replaces that entity's timer of
   * the same name. `attempts`: the number of attempts of a firing before the timer is dead; 0: as the settings say.
   */
  static set(name: string, due: Due, call: DeferredCall, attempts: u32 = 0): Result<Done> {
    new SetTimer(null, name, due, call, attempts).putTimer(timerAt);
    clock.setTimer(timerAt, host.answerAt);
    return answered();
  }

  /** Cancels the timer of an entity, and waits until it is gone. Also succeeds if there is no such timer. */
  static cancel(name: string, owner: EntityClient): Result<Done> {
    const component = owner.__svc_component();
    const text = wellFormed(name);
    clock.cancelTimer(
      changetype<usize>(component),
      component.length,
      changetype<usize>(owner.id),
      owner.id.length,
      changetype<usize>(text),
      text.length,
      host.answerAt,
    );
    return answered();
  }
}

/** Reads a result<_, call-error>. */
function answered(): Result<Done> {
  if (load<u8>(host.answerAt) != 0) return Result.__svc_refused<Done>(callError(host.answerAt + 4));
  return Result.__svc_of<Done>(new Done());
}
