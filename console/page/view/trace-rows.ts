// TraceRows: the tree of a trace as the rows of a table, each with its bar on one time axis. The functions are pure.
import type { Span, TraceDetail } from '@svc/contract';

export interface TraceRow {
  readonly span: Span;
  /** Depth in the tree, from 1. */
  readonly level: number;
  readonly parentId: string | undefined;
  readonly isOpen: boolean;
  readonly hasChildren: boolean;
  /** Position among the siblings, from 1. */
  readonly position: number;
  /** Number of siblings, this span included. */
  readonly siblings: number;
  /** Left edge of the bar, in percent of the axis. */
  readonly left: number;
  /** Width of the bar, in percent of the axis. */
  readonly width: number;
}

/** Returns the visible rows. `closed`: ids of the collapsed spans, whose children are left out. */
export function traceRows(trace: TraceDetail, closed: ReadonlySet<string>): TraceRow[] {
  const rows: TraceRow[] = [];
  const axisMs = axisLengthMs(trace);
  const visit = (spans: readonly Span[], level: number, parentId: string | undefined): void => {
    for (const [at, span] of spans.entries()) {
      const hasChildren = span.children.length > 0;
      const isOpen = hasChildren && !closed.has(span.spanId);
      const left = percent(span.offsetMs, axisMs);
      const width = Math.min(percent(span.durationMs, axisMs), 100 - left);
      const position = at + 1;
      const siblings = spans.length;
      rows.push({ span, level, parentId, isOpen, hasChildren, position, siblings, left, width });
      if (isOpen) visit(span.children, level + 1, span.spanId);
    }
  };
  visit(trace.roots, 1, undefined);
  return rows;
}

/**
 * Returns the length of the axis in milliseconds, above 0. The axis ends with the last span: a span may end after the
 * one that began the trace.
 */
export function axisLengthMs(trace: TraceDetail): number {
  let end = trace.durationMs;
  const visit = (spans: readonly Span[]): void => {
    for (const span of spans) {
      end = Math.max(end, span.offsetMs + span.durationMs);
      visit(span.children);
    }
  };
  visit(trace.roots);
  return end > 0 ? end : 0.001;
}

/** Positions of the ticks, as fractions of the axis. */
export const AXIS_TICKS = [0, 0.25, 0.5, 0.75, 1] as const;

export function findSpan(trace: TraceDetail, spanId: string): Span | undefined {
  return find(trace.roots, (span) => span.spanId === spanId);
}

/**
 * Returns the span where the failure began, whose fault has the guest's source location: the deepest of the failed
 * spans, and the last at that depth. Refused spans count only if no span failed or timed out. Undefined: no span has
 * a fault.
 */
export function causeOf(trace: TraceDetail): Span | undefined {
  let cause: Span | undefined;
  let causeLevel = 0;
  const visit = (spans: readonly Span[], level: number): void => {
    for (const span of spans) {
      if (span.fault !== null && span.outcome !== 'Ok') {
        const worse = severity(span) - severity(cause);
        if (worse > 0 || (worse === 0 && level >= causeLevel)) {
          cause = span;
          causeLevel = level;
        }
      }
      visit(span.children, level + 1);
    }
  };
  visit(trace.roots, 1);
  return cause;
}

export function spanCount(trace: TraceDetail): number {
  let count = 0;
  find(trace.roots, () => (count++, false));
  return count;
}

function severity(span: Span | undefined): number {
  if (span === undefined) return 0;
  return span.outcome === 'Refused' ? 1 : 2;
}

function find(spans: readonly Span[], wanted: (span: Span) => boolean): Span | undefined {
  for (const span of spans) {
    if (wanted(span)) return span;
    const inner = find(span.children, wanted);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function percent(part: number, whole: number): number {
  return Math.min(100, Math.max(0, (part / whole) * 100));
}
