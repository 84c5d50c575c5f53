// ServiceLog sends the log entries of one thread of a service to the service's log: it limits the rate of the lines,
// counts each failure once, and provides the logs that the engine and the HTTP server require.
import type { DeadTimerLog } from '../engine/needs/dead-timer-log.ts';
import type { FaultLog } from '../engine/needs/fault-log.ts';
import type { HttpLog } from '../http/http-log.ts';
import type { EntityRef } from '@svc/model/entity';
import type { FaultEntry } from '@svc/model/fault-entry';
import { FaultReport } from '@svc/model/fault-report';
import type { LimitCounters } from '@svc/model/limit-counters';
import type { LogEntry } from '@svc/kit/log-entry';
import type { LogLimits } from '@svc/kit/log-limits';
import { LogRate } from '@svc/kit/log-rate';

export interface ServiceLogOptions {
  readonly limits: LogLimits;
  /** Counts the failures, and the lines that exceeded the limits. */
  readonly counters: LimitCounters;
  /** Receives each line that is within the limits. */
  readonly send: (entry: FaultEntry) => void;
}

export class ServiceLog {
  readonly faults: FaultReport;
  readonly #rate: LogRate<FaultEntry>;

  constructor({ limits, counters, send }: ServiceLogOptions) {
    this.faults = new FaultReport(counters);
    const countNotWritten = () => counters.count('log-lines-not-written');
    this.#rate = new LogRate(limits, performance.now(), send, countNotWritten);
  }

  /**
   * Writes a line. `failure`: the error that the line is about; the code positions of a guest fault are sent with the
   * line.
   */
  write(
    level: LogEntry['level'],
    message: string,
    fields: LogEntry['fields'] = {},
    failure?: unknown,
  ): void {
    const frames = this.faults.frames(failure);
    const entry: FaultEntry = { level, message, fields, frames };
    this.#rate.write(entry, performance.now());
  }

  /** Notes that the log has written this many bytes of the lines that it was sent (the sum of `entryBytes`). */
  written(bytes: number): void {
    this.#rate.written(bytes);
  }

  /** Logs how many lines exceeded the limits, if any did. Call it at intervals and at the end. */
  report(): void {
    this.#rate.report(performance.now());
  }

  /** Receives the faults of entities. */
  readonly entityFaults: FaultLog = ({ component, id }, handler, fault) => {
    const fields = {
      component,
      entity: id,
      ...(handler === undefined ? {} : { handler }),
      ...this.faults.fields(fault),
    };
    this.write('warn', 'an entity failed', fields, fault);
  };

  /** Receives the timers that have failed for the last time. */
  readonly deadTimers: DeadTimerLog = ({ owner, name, target, command }, attempts, reason) => {
    const fields = {
      owner: owner === undefined ? 'service' : nameOf(owner),
      name,
      target: nameOf(target),
      command,
      attempts,
      reason,
      hint: "it fires again when it is set again, or after 'svc timers retry'",
    };
    this.write('warn', 'the timer is dead', fields);
  };

  /** Receives the failures of requests. `FaultReport` adds the module's message, once for each failure. */
  readonly http: HttpLog = {
    warn: ({ err, guestMessage: _guestMessage, ...fields }, message) =>
      this.write('warn', message, { ...fields, ...this.faults.fields(err) }, err),
    error: ({ err, ...fields }, message) =>
      this.write('error', message, { ...fields, ...this.faults.fields(err) }, err),
    unlogged: (failure) => void this.faults.fields(failure),
  };
}

function nameOf({ component, id }: EntityRef): string {
  return `${component}/${id}`;
}
