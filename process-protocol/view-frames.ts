// ViewFrames: the rows and events of views as frames, and back.
import type { KeyedEvent, RowState } from '@svc/model/view';
import type {
  KeyedEvent as KeyedFrame,
  Row,
  ViewFold,
} from './generated/svc/process/v1/process.ts';
import { eventFrame, eventOf } from './handler-frames.ts';

export function viewFoldFrame(
  view: string,
  rows: readonly RowState[],
  events: readonly KeyedEvent[],
): ViewFold {
  return { view, rows: rows.map(rowFrame), events: events.map(keyedFrame) };
}

export function rowFrame({ key, json }: RowState): Row {
  return { key, json };
}

export function rowOf({ key, json }: Row): RowState {
  return { key, json };
}

function keyedFrame({ event, rows }: KeyedEvent): KeyedFrame {
  return { event: eventFrame(event), rows };
}

export function keyedEventOf({ event, rows }: KeyedFrame): KeyedEvent {
  return { event: eventOf(event), rows };
}
