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

/** Size of an instruction of a program, in bytes: that of those that take most. */
const INSTRUCTION_BYTES = 256;
/** Steps that count for making the program of an expression, which is made with the first search. */
const COMPILING_STEPS = 200_000;

export class Filters {
  readonly request: FilterRequest;
  #pattern: NamePattern | undefined;

  /** `request`: one without problems. */
  constructor(request: FilterRequest) {
    this.request = request;
  }

  matches(dataset: FilteredDataset): boolean {
    return this.matchesButName(dataset) && this.isFoundIn(dataset.name);
  }

  /** Whether a dataset matches every filter but `nameRegex`. */
  matchesButName({ model, tags, status }: Omit<FilteredDataset, 'name'>): boolean {
    const wanted = this.request;
    return (
      (wanted.status === undefined || wanted.status === status) &&
      (wanted.model === undefined || wanted.model === model) &&
      (wanted.tags ?? []).every((tag) => tags.includes(tag))
    );
  }

  /** Whether `nameRegex` is found in a name; without one it is. */
  isFoundIn(name: string): boolean {
    const { nameRegex } = this.request;
    return nameRegex === undefined || this.#prepared(nameRegex).isFoundIn(name);
  }

  /** Whether there is no program to be made before a search. */
  get isPrepared(): boolean {
    return this.request.nameRegex === undefined || this.#pattern !== undefined;
  }

  /** Size of the program of the expression, in bytes; 0: it has not been made. */
  get programBytes(): number {
    return (this.#pattern?.size ?? 0) * INSTRUCTION_BYTES;
  }

  /** Makes the program of the expression, as the first search does. */
  prepare(): void {
    const { nameRegex } = this.request;
    if (nameRegex !== undefined) this.#prepared(nameRegex);
  }

  /** Steps that the next search may take for a dataset of this name, at most. */
  stepsMax({ name }: Pick<FilteredDataset, 'name'>): number {
    if (this.request.nameRegex === undefined) return 0;
    return this.#pattern === undefined
      ? COMPILING_STEPS
      : this.#pattern.size * Math.min(name.length, SEARCHED_MAX);
  }

  #prepared(nameRegex: string): NamePattern {
    this.#pattern ??= new NamePattern(nameRegex);
    return this.#pattern;
  }
}
