// EntityJournal loads the records of one entity in pages. A page is loaded when one of its records is displayed; the
// newest page is polled, because the journal grows.
import type { HistoryPage, HistoryStep } from '@svc/contract';
import { signal } from '@preact/signals';
import { getJson, observed, type ApiProblem } from './api.ts';
import { pause, problemOf } from './loaded.ts';
import { pageStart } from './view/timeline-marks.ts';

/** Maximum number of records in a page; the service may end a page earlier. */
const PAGE_LENGTH = 50;
const POLLED_EVERY_MS = 2000;
/**
 * If more steps than this are in memory when a page arrives, all of them but the displayed and the newest one are
 * dropped: their states may be large.
 */
const STEPS_KEPT = 500;

export class EntityJournal {
  /** Indexed by sequence number: the steps that are in memory. */
  readonly steps = signal<ReadonlyMap<number, HistoryStep>>(new Map());
  /** Number of records; undefined until it is known. */
  readonly total = signal<number | undefined>(undefined);
  readonly problem = signal<ApiProblem | undefined>(undefined);
  readonly #path: string;
  /** Sequence number of the displayed record; 0 until there is one. */
  #displayedSeq = 0;

  constructor(instanceId: string, component: string, id: string) {
    this.#path = observed(instanceId, 'entities', component, id, 'history');
  }

  /** Polls the newest page until `stop` is aborted; also loads the newest and the displayed record if missing. */
  async watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.#load(pageStart(Math.max(1, this.total.value ?? 1), PAGE_LENGTH), stop);
      const total = this.total.value ?? 0;
      for (const seq of [total, this.#displayedSeq])
        if (seq >= 1 && seq <= total && !this.steps.value.has(seq))
          await this.#load(pageStart(seq, PAGE_LENGTH), stop, seq);
      await pause(POLLED_EVERY_MS, stop);
    }
  }

  /** Marks a record as the displayed one, and loads its page if the record is not in memory. */
  async need(seq: number, stop: AbortSignal): Promise<void> {
    this.#displayedSeq = seq;
    if (!this.steps.value.has(seq)) await this.#load(pageStart(seq, PAGE_LENGTH), stop, seq);
  }

  /** Loads pages from the record `from` up to the record `until`; more than one if a page ends early. */
  async #load(from: number, stop: AbortSignal, until = from): Promise<void> {
    try {
      for (let next: number | null = from; next !== null && next <= until;) {
        const path = `${this.#path}?from=${next}&limit=${PAGE_LENGTH}`;
        const page: HistoryPage = await getJson(path, stop);
        this.#keep(page);
        next = page.next;
      }
      this.problem.value = undefined;
    } catch (error) {
      if (!stop.aborted) this.problem.value = problemOf(error);
    }
  }

  #keep(page: HistoryPage): void {
    const isFull = this.steps.value.size > STEPS_KEPT;
    const last = this.total.value;
    const steps = new Map(
      isFull
        ? [...this.steps.value].filter(([seq]) => seq === this.#displayedSeq || seq === last)
        : this.steps.value,
    );
    for (const step of page.steps) steps.set(step.seq, step);
    this.steps.value = steps;
    this.total.value = page.total;
  }
}
