// HistoryAnswers answers questions about stored entities: it reads the journal while the engine writes it, and
// folds events with its own guest. It answers one question at a time, and keeps no file open in between.
import type { EntityList, HistoryPage, ModuleDescriptor } from '@svc/contract';
import type { Guest } from '@svc/model/guest';
import { quoted } from '../../engine/quoted.ts';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../../storage/journal-inspection.ts';
import type { JournalLocation } from '../../storage/journal-location.ts';
import { inspectJournal } from '../../storage/journal-reading.ts';
import { HistoryPages } from '../history-pages.ts';
import { timeText } from '../history-walk.ts';
import type { HistoryAnswer, HistoryQuestion } from './history-reader.ts';
import { storedWork } from './stored-work.ts';

/** Counting scans the index of ids, so it stops at this number of entities. */
const ENTITIES_COUNTED_MAX = 100_000;

export type EntityQuestion = Exclude<HistoryQuestion, { kind: 'locations' }>;

export interface HistoryAnswersOptions {
  /** The journal; a service may be writing it. */
  readonly location: JournalLocation;
  readonly descriptor: ModuleDescriptor;
  /** Starts the guest that folds; called when the first history is asked for, and again only if the start failed. */
  readonly startGuest: () => Awaitable<Pick<Guest, 'entities'>>;
}

export class HistoryAnswers {
  readonly #options: HistoryAnswersOptions;
  #inspection: JournalInspection | undefined;
  #guest: Pick<Guest, 'entities'> | undefined;
  /** Pages of the entity of the last question: the next question is likely for its next page. */
  #last: { readonly entity: EntityRef; readonly pages: HistoryPages } | undefined;

  constructor(options: HistoryAnswersOptions) {
    this.#options = options;
  }

  /** Rejects with SVC_NOT_IN_JOURNAL, and with the errors of an unreadable journal or of the start of the guest. */
  async answer(question: EntityQuestion): Promise<HistoryAnswer> {
    try {
      return await this.#answer(question);
    } finally {
      this.#inspection?.close();
    }
  }

  async #answer(question: EntityQuestion): Promise<HistoryAnswer> {
    switch (question.kind) {
      case 'entities':
        return { kind: 'entities', list: await this.#entities(question) };
      case 'history':
        return { kind: 'history', page: await this.#history(question) };
      case 'timers':
      case 'rows':
      case 'consumers':
      case 'lanes':
        return storedWork(this.#options.location, question);
    }
  }

  async #entities({
    component,
    prefix,
    afterId,
    limit,
  }: Extract<EntityQuestion, { kind: 'entities' }>): Promise<EntityList> {
    const inspection = (this.#inspection ??= inspectJournal(this.#options.location));
    if (!this.#isDeclared(component) && !(await inspection.hasComponent(component)))
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        `Neither the module nor the journal has a component ${quoted(component)}.`,
      );
    const found = await inspection.entities(component, afterId, limit + 1, prefix);
    const next = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
    const entities = found.slice(0, limit).map(({ id, events, lastTimeMs, deleted }) => ({
      id,
      events,
      lastTime: lastTimeMs === undefined ? null : timeText(lastTimeMs),
      deleted,
    }));
    const counted = await inspection.countEntities(component, prefix, ENTITIES_COUNTED_MAX + 1);
    return {
      component,
      entities,
      total: Math.min(counted, ENTITIES_COUNTED_MAX),
      totalCapped: counted > ENTITIES_COUNTED_MAX,
      next,
    };
  }

  async #history({
    component,
    id,
    from,
    limit,
  }: Extract<EntityQuestion, { kind: 'history' }>): Promise<HistoryPage> {
    if (this.#last?.entity.component !== component || this.#last.entity.id !== id) {
      this.#last?.pages.close();
      const entity = { component, id };
      const inspection = (this.#inspection ??= inspectJournal(this.#options.location));
      const guest = (this.#guest ??= await this.#options.startGuest());
      const folding = this.#isDeclared(component) ? guest.entities : undefined;
      this.#last = { entity, pages: new HistoryPages(inspection, folding, entity) };
    }
    return this.#last.pages.page(from, limit);
  }

  #isDeclared(component: string): boolean {
    return this.#options.descriptor.entities.some((entity) => entity.component === component);
  }
}
