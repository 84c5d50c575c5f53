// ProjectionLog reports what happens to views: to the log, and to those who show how a view fares.
import type { LogEntry } from '@svc/kit/log-entry';
import { SvcError } from '@svc/kit/svc-error';
import { faultReason } from '@svc/model/fault-reason';
import { GuestFault } from '@svc/model/guest-fault';
import type { ViewLimits } from '@svc/model/view-limits';
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { ViewProblem } from './view-report.ts';
import type { ViewStopped } from './view-stopped.ts';

export interface ProjectionLogNeeds {
  readonly limits: Pick<ViewLimits, 'freeBytesMin' | 'rowBytesMax'>;
  readonly log: (entry: LogEntry) => void;
  /** Receives the reason why a view does not follow the events, and undefined once it does again. */
  readonly onProblem?: (view: string, problem: ViewProblem | undefined) => void;
}

export class ProjectionLog {
  readonly #needs: ProjectionLogNeeds;
  /** Ids of the views of whose large rows a warning was logged. */
  readonly #withLargeRow = new Set<string>();

  constructor(needs: ProjectionLogNeeds) {
    this.#needs = needs;
  }

  /** Reports that a view follows the events again. */
  recovered(view: string): void {
    this.#needs.onProblem?.(view, undefined);
  }

  leftOut(view: string, { entity, seq, reason }: SkippedEvent): void {
    const { component, id } = entity;
    const fields = { view, component, entity: id, event: seq, reason };
    this.#needs.log({ level: 'warn', message: 'the view leaves out an event', fields });
  }

  built(view: string, rows: number): void {
    this.#needs.log({ level: 'info', message: 'the view is built', fields: { view, rows } });
  }

  /** `reason`: why the rows that were there are not used. */
  builtAgain(view: string, reason: string): void {
    const message = 'the rows of the view are built again';
    this.#needs.log({ level: 'warn', message, fields: { view, reason } });
  }

  paused(view: string, isPaused: boolean): void {
    const { freeBytesMin } = this.#needs.limits;
    const reason = `the disk has less than ${freeBytesMin} bytes free (svc.views.free-bytes-min)`;
    const problem = { kind: 'paused', code: undefined, reason } as const;
    this.#needs.onProblem?.(view, isPaused ? problem : undefined);
    this.#needs.log(
      isPaused
        ? { level: 'warn', message: 'the building of a view pauses', fields: { view, reason } }
        : { level: 'info', message: 'the building of a view goes on', fields: { view } },
    );
  }

  /** Warns of the first row of a view that is larger than half of the limit. */
  large(view: string, key: string): void {
    if (this.#withLargeRow.has(view)) return;
    this.#withLargeRow.add(view);
    const { rowBytesMax } = this.#needs.limits;
    const reason =
      `it has more than half of the ${rowBytesMax} bytes that a row may have (svc.views.row-bytes-max), ` +
      'beyond which the view stops';
    const fields = { view, key, reason };
    this.#needs.log({ level: 'warn', message: 'a row of a view has become large', fields });
  }

  stopped(view: string, stopped: ViewStopped): void {
    const { at, cause } = stopped;
    this.#needs.onProblem?.(view, { kind: 'stopped', at, reason: faultReason(cause) });
    const { entity, seq } = at;
    const guestMessage = cause instanceof GuestFault ? cause.guestMessage : undefined;
    this.#needs.log({
      level: 'error',
      message: 'the view has stopped at an event',
      fields: {
        code: 'SVC_VIEW_STOPPED',
        view,
        component: entity.component,
        entity: entity.id,
        event: seq,
        reason: stopped.message,
        ...(guestMessage === undefined ? {} : { guestMessage }),
      },
    });
  }

  /** Reports a failure after which the view is opened again. */
  failing(view: string, error: unknown, reason: string): void {
    const code = error instanceof SvcError ? error.code : undefined;
    this.#needs.onProblem?.(view, { kind: 'failing', code, reason });
    this.#needs.log({
      level: 'error',
      message: 'the view cannot be kept up to date, and is tried again',
      fields: { ...(code === undefined ? {} : { code }), view, reason },
    });
  }
}
