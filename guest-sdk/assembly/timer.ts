// Due: when a timer is due. DeferredCall: the command that a timer sends. TimerChange: a change that an effect makes to
// a timer, or that Timers makes immediately.
import { host } from "./host";

/** Cases of the variant `due` of the WIT. */
const AT: u8 = 0;
const AFTER: u8 = 1;
const EVERY: u8 = 2;
const CRON: u8 = 3;

/** When a timer is due: once, or repeatedly. */
export class Due {
  private constructor(
    private kind: u8,
    private ms: u64,
    private expression: string,
    private zone: string,
  ) {}

  /** Due once, at a date. A date in the past is due immediately. */
  static at(date: Date): Due {
    return new Due(AT, notNegative(date.getTime()), "", "");
  }

  /** Due once, `ms` milliseconds after the time of the call that sets the timer; immediately if `ms` is negative. */
  static after(ms: i64): Due {
    return new Due(AFTER, notNegative(ms), "", "");
  }

  /** Due every `ms` milliseconds, at least 1,000; for the first time `ms` milliseconds after the timer is set. */
  static every(ms: i64): Due {
    return new Due(EVERY, notNegative(ms), "", "");
  }

  /**
   * Due at each time that a cron expression matches: five fields (minute, hour, day of month, month, day of week), or
   * a word such as `@daily`. `zone`: the IANA time zone of the expression, such as `Europe/Berlin`.
   */
  static cron(expression: string, zone: string = "UTC"): Due {
    return new Due(CRON, 0, expression, zone);
  }

  /** Writes a `due` of the WIT, 24 bytes. */
  __svc_put(at: usize): void {
    store<u8>(at, this.kind);
    if (this.kind != CRON) {
      store<u64>(at + 8, this.ms);
      return;
    }
    host.putText(at + 8, this.expression);
    host.putText(at + 16, this.zone);
  }
}

function notNegative(ms: i64): u64 {
  return ms < 0 ? 0 : <u64>ms;
}

/** A command with its target and its input, which a timer sends later. The compiler writes the class that creates it. */
export class DeferredCall {
  /** `command`: the wire name. `input`: JSON text. */
  constructor(
    private component: string,
    private id: string,
    private command: string,
    private input: string,
  ) {}

  /** Writes the target, the command and the input of a `timer` of the WIT, 32 bytes. */
  __svc_put(at: usize): void {
    host.putString(at, this.component);
    host.putText(at + 8, this.id);
    host.putString(at + 16, this.command);
    host.putString(at + 24, this.input);
  }
}

/** Bytes of a `timer-change` of the WIT. */
export const CHANGE_BYTES: usize = 80;

/** Cancels a timer. The changes of an effect are a linked list, so that effects can share the earlier ones. */
export class TimerChange {
  /** Number of changes up to this one. */
  readonly count: usize;

  constructor(
    private earlier: TimerChange | null,
    protected name: string,
  ) {
    this.count = earlier !== null ? earlier.count + 1 : 1;
  }

  /** Writes this change and the earlier ones as elements of a list<timer-change>. */
  putAll(at: usize): void {
    const earlier = this.earlier;
    if (earlier !== null) earlier.putAll(at);
    this.put(at + (this.count - 1) * CHANGE_BYTES);
  }

  /** Writes a `timer-change` of the WIT. */
  protected put(at: usize): void {
    store<u8>(at, 1);
    host.putText(at + 8, this.name);
  }
}

/** Sets a timer. */
export class SetTimer extends TimerChange {
  /** `attempts`: as the parameter of `Change.thenSetTimer`. */
  constructor(
    earlier: TimerChange | null,
    name: string,
    private due: Due,
    private call: DeferredCall,
    private attempts: u32,
  ) {
    super(earlier, name);
  }

  protected put(at: usize): void {
    store<u8>(at, 0);
    this.putTimer(at + 8);
  }

  /** Writes a `timer` of the WIT, 72 bytes. */
  putTimer(at: usize): void {
    host.putText(at, this.name);
    this.call.__svc_put(at + 8);
    this.due.__svc_put(at + 40);
    store<u8>(at + 64, this.attempts > 0 ? 1 : 0);
    store<u32>(at + 68, this.attempts);
  }
}
