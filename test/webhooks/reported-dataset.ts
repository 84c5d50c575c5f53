// ReportedDataset: a report of a dataset that is an event.
import type { DatasetReport } from '@svc/client';

export function reported(changed: Partial<DatasetReport> = {}): DatasetReport {
  return {
    name: 'routes of tuesday',
    model: 'field-service',
    modelVersion: '1.4.0',
    tags: ['tuesday'],
    status: 'SOLVING_COMPLETED',
    score: '0hard/-120soft',
    seq: 1,
    parentId: null,
    originId: null,
    supersededBy: null,
    runLink: 'https://platform.example/runs/1',
    outputLink: 'https://platform.example/runs/1/output',
    ...changed,
  };
}
