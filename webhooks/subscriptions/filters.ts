// Filters: which events of datasets a subscription wants. A dataset has to match every filter that is given.
import type { FilterRequest } from './subscription-content.ts';
import { NamePattern, SEARCHED_MAX } from './name-pattern.ts';

/** The part of a dataset that filters look at. */
export interface FilteredDataset {
  readonly name: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly status: string;
}

/** Steps that count for making the program of an expression, which is made with the first search. */
const COMPILING_STEPS = 200_000;

export class Filters {
  readonly request: FilterRequest;
  #pattern: NamePattern | undefined;

  /** `request`: one without problems. */
  constructor(request: FilterRequest) {
    this.request = request;
  }

  matches({ name, model, tags, status }: FilteredDataset): boolean {
    const wanted = this.request;
    return (
      (wanted.status === undefined || wanted.status === status) &&
      (wanted.model === undefined || wanted.model === model) &&
      (wanted.tags ?? []).every((tag) => tags.includes(tag)) &&
      (wanted.nameRegex === undefined || this.#isFound(wanted.nameRegex, name))
    );
  }

  /** Steps that the next search may take for a dataset of this name, at most. */
  stepsMax({ name }: FilteredDataset): number {
    if (this.request.nameRegex === undefined) return 0;
    return this.#pattern === undefined
      ? COMPILING_STEPS
      : this.#pattern.size * Math.min(name.length, SEARCHED_MAX);
  }

  #isFound(nameRegex: string, name: string): boolean {
    this.#pattern ??= new NamePattern(nameRegex);
    return this.#pattern.isFoundIn(name);
  }
}
