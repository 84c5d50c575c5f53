// The metrics of views.
import type { ViewStatus } from '@svc/model/view-status';
import type { Family } from './metrics-text.ts';

/** Makes no series for a service without views. */
export function viewFamilies(views: readonly ViewStatus[]): Family[] {
  if (views.length === 0) return [];
  const family = (name: string, help: string, valueOf: (of: ViewStatus) => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: views.map((of) => ({ labels: { view: of.view }, value: valueOf(of) })),
  });
  return [
    family(
      'svc_view_lag_records',
      'Records of the journal that are not folded into the rows of the view.',
      ({ lagRecords }) => lagRecords,
    ),
    family(
      'svc_view_lag_seconds',
      'Time since the oldest event of the view that is not folded was stored; 0 if there is none.',
      ({ lagSeconds }) => lagSeconds,
    ),
    family(
      'svc_view_progress',
      'Share of the records of the journal that are folded, from 0 to 1.',
      ({ progress }) => progress,
    ),
    family(
      'svc_view_live',
      'Whether the queries of the view are answered from rows that follow the journal: 1 or 0.',
      ({ state }) => Number(state === 'live'),
    ),
    family(
      'svc_view_stopped',
      'Whether the view has stopped at an event that it cannot fold: 1 or 0.',
      ({ state }) => Number(state === 'stopped'),
    ),
  ];
}
