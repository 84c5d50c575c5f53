// WebhookLoad: reports of datasets, one after the other in several lines, to a webhook service that is killed again and again. A report
// that gets no answer is sent again, as it was, until it has one.
import { setTimeout as delay } from 'node:timers/promises';
import { NoAnswerError, type DatasetReport, type WebhooksClient } from '@svc/client';
import { REPORT } from './webhook-process.ts';

/** A report that caused an event. */
export interface Answered {
  readonly eventId: string;
  readonly dataset: string;
  readonly report: DatasetReport;
}

/** Statuses that follow on each other, so that each report is an event. */
const STATUSES = ['DATASET_COMPUTED', 'SOLVING_COMPLETED'] as const;
const PACE_MS = 60;

export class WebhookLoad {
  readonly answered: Answered[] = [];
  /** Requests that got no answer. */
  cutOff = 0;
  readonly #client: () => Promise<WebhooksClient>;
  readonly #lines: Promise<void>[];
  #isOver = false;

  /** `client`: resolves with that of the process that runs now. `tags`: for each line, those of its dataset, whose id begins with `name`. */
  constructor(
    client: () => Promise<WebhooksClient>,
    tags: readonly (readonly string[])[],
    name = 'd',
  ) {
    this.#client = client;
    this.#lines = tags.map((each, line) => this.#report(`${name}${line}`, each));
  }

  /** Resolves once each report has its answer. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lines);
  }

  async #report(dataset: string, tags: readonly string[]): Promise<void> {
    for (let seq = 1; !this.#isOver; seq++) {
      const status = STATUSES[seq % 2]!;
      const report = { ...REPORT, name: `${dataset} at ${seq}`, tags: [...tags], status, seq };
      // oxlint-disable-next-line no-await-in-loop -- a dataset changes step by step
      const eventId = await this.#answerTo(dataset, report);
      if (eventId === null) throw new Error(`the report ${seq} of ${dataset} was no event`);
      this.answered.push({ eventId, dataset, report });
      // oxlint-disable-next-line no-await-in-loop -- the pace
      await delay(PACE_MS);
    }
  }

  async #answerTo(datasetId: string, body: DatasetReport): Promise<string | null> {
    for (;;)
      try {
        // oxlint-disable-next-line no-await-in-loop -- it is sent again only without an answer
        const client = await this.#client();
        // oxlint-disable-next-line no-await-in-loop -- it is sent again only without an answer
        return (await client.reportDataset({ tenantId: 'acme', datasetId, body })).eventId;
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        this.cutOff++;
        // oxlint-disable-next-line no-await-in-loop -- the process is started again
        await delay(PACE_MS);
      }
  }
}
