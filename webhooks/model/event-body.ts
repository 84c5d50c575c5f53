// EventBody: the body of an event, byte for byte as receivers get it (document 3, "Delivery request"). It is made once, when the event
// occurs, and stored.
import type { DatasetReport } from '@svc/client';

export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly occurredAtMs: number;
  readonly tenant: string;
  readonly data: object;
}

/** Returns the fields of a dataset in the order in which events have them. */
export function dataOf(id: string, dataset: DatasetReport): object {
  const { name, model, modelVersion, tags, status, score, seq } = dataset;
  const { parentId, originId, supersededBy, runLink, outputLink } = dataset;
  return {
    id,
    name,
    model,
    modelVersion,
    tags,
    status,
    score,
    seq,
    parentId,
    originId,
    supersededBy,
    runLink,
    outputLink,
  };
}

export function bodyOf({ id, type, occurredAtMs, tenant, data }: Envelope): string {
  const occurredAt = new Date(occurredAtMs).toISOString();
  return JSON.stringify({ id, type, occurredAt, tenant, data });
}
