// UpgradeFindings collects the findings of an upgrade check. Findings with the same name, component and subject are
// one finding, with the number of entities and a few examples. The collection has a bounded size whatever a journal
// holds. Up to SUBJECTS_MAX subjects, it does not depend on the order in which findings are added; beyond this limit,
// the subjects that were added first are listed.

/**
 * The names of findings, which are part of the command line (`--allow`) and never change. They are in the order in
 * which reports list them.
 */
export const FINDING_NAMES = [
  'record-damaged',
  'manifest-unread',
  'event-refused',
  'fold-trapped',
  'view-stopped',
  'state-differs',
  'view-rows-differ',
  'state-field-removed',
  'state-field-retyped',
  'component-removed',
  'command-removed',
  'query-removed',
  'input-narrowed',
  'route-removed',
  'route-input-narrowed',
  'route-access-narrowed',
  'route-answer-changed',
  'view-removed',
  'view-query-removed',
  'view-query-narrowed',
  'view-query-changed',
  'view-row-changed',
  'timer-command-removed',
  'schedule-removed',
  'consumer-removed',
  'consumer-source-removed',
  'consumer-source-added',
  'rolling-component-missing',
  'rolling-event-unread',
  'rolling-call-refused',
  'rolling-reply-unread',
  'rolling-key-refused',
] as const;
export type FindingName = (typeof FINDING_NAMES)[number];

/** Findings that `--allow` accepts. A damaged record is no difference between two modules, so it is never accepted. */
export const ALLOWABLE_NAMES = FINDING_NAMES.filter((name) => name !== 'record-damaged');

/** Returns whether an entry of `allow` accepts a finding. `word`: a finding's name, optionally with its component. */
export function isAllowed(
  word: string,
  { name, component }: Pick<Finding, 'name' | 'component'>,
): boolean {
  return word === name || word === `${name}:${component}`;
}

/** An entity that has the finding; a row of a view, or the target of a timer. */
export interface FindingExample {
  /** Id of the entity; of a row, its key. */
  readonly id: string;
  /**
   * Sequence number of the event or record; for a state, of its last event. Absent if the finding is before the first
   * event or was not located.
   */
  readonly seq?: number | undefined;
  /** Description of the problem, in the module's words; for a state, its first difference. */
  readonly problem: string;
}

export interface Finding {
  readonly name: FindingName;
  /** Name of the component; for a route, of its endpoint; for a view, a consumer or a schedule, its id. */
  readonly component: string;
  /** Distinguishes findings of the same name and component: a path, a handler, an event's case, or a route. */
  readonly subject: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /**
   * Number of entities that have the finding, of rows (`view-rows-differ`) or of timers (`timer-command-removed`); 0 if it
   * was found in the descriptors.
   */
  readonly entities: number;
  /** The first few entities in the order of their ids. */
  readonly examples: readonly FindingExample[];
}

const EXAMPLES_MAX = 5;
/** Limit of the subjects for one name and component. */
const SUBJECTS_MAX = 100;
/** Subject of the finding that represents all subjects above the limit. */
const OTHERS = '…';

type Group = { -readonly [Key in keyof Finding]: Finding[Key] };

export class UpgradeFindings {
  readonly #groups = new Map<string, Group>();
  /** Name and component → number of subjects. */
  readonly #subjects = new Map<string, number>();

  /** Adds an entity that has a finding. The same entity must not be added twice for the same finding. */
  add(finding: Omit<Finding, 'entities' | 'examples'>, example: FindingExample): void {
    this.merge({ ...finding, entities: 1, examples: [example] });
  }

  /** Returns whether the example would be listed, so that it is worth computing more about it. */
  keeps(
    finding: Pick<Finding, 'name' | 'component' | 'subject'>,
    example: ExamplePosition,
  ): boolean {
    const family = `${finding.name} ${finding.component}`;
    const isOther = (this.#subjects.get(family) ?? 0) >= SUBJECTS_MAX;
    const known =
      this.#groups.get(`${family} ${finding.subject}`) ??
      (isOther ? this.#groups.get(`${family} ${OTHERS}`) : undefined);
    const last = known?.examples[EXAMPLES_MAX - 1];
    return last === undefined || exampleOrder(example, last) < 0;
  }

  /** Adds a finding; if the same finding is known, adds its entities and examples to the known one. */
  merge(finding: Finding): void {
    const family = `${finding.name} ${finding.component}`;
    const key = `${family} ${finding.subject}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return join(known, finding);
    const subjects = this.#subjects.get(family) ?? 0;
    if (subjects >= SUBJECTS_MAX && finding.subject !== OTHERS)
      return this.merge({ ...finding, subject: OTHERS, message: 'further ones, of other kinds' });
    this.#subjects.set(family, subjects + 1);
    this.#groups.set(key, { ...finding });
  }

  /** Lists the findings in the order of FINDING_NAMES, then of component and subject. */
  list(): Finding[] {
    return [...this.#groups.values()].toSorted(
      (a, b) =>
        FINDING_NAMES.indexOf(a.name) - FINDING_NAMES.indexOf(b.name) ||
        order(a.component, b.component) ||
        order(a.subject, b.subject),
    );
  }

  /** Returns the findings since the last call, and removes them. */
  take(): Finding[] {
    const found = [...this.#groups.values()];
    this.#groups.clear();
    this.#subjects.clear();
    return found;
  }
}

function join(known: Group, { entities, examples }: Finding): void {
  known.entities += entities;
  if (examples.length === 0) return;
  known.examples = [...known.examples, ...examples].toSorted(exampleOrder).slice(0, EXAMPLES_MAX);
}

type ExamplePosition = Pick<FindingExample, 'id' | 'seq'>;

function exampleOrder(a: ExamplePosition, b: ExamplePosition): number {
  return order(a.id, b.id) || (a.seq ?? 0) - (b.seq ?? 0);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
