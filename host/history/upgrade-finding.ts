// UpgradeFindings: what an upgrade check has found, told once for each place of a type, handler or event,
// with how many entities it concerns and a few of them. Its size is bounded whatever a journal holds, and
// which entities are named does not depend on who found them first.

/**
 * What can be found: these names are kept, `--allow` takes them. They stand in the order in which a
 * person wants to know of them.
 */
export const FINDING_NAMES = [
  'record-damaged',
  'manifest-unread',
  'event-refused',
  'fold-trapped',
  'state-differs',
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
] as const;
export type FindingName = (typeof FINDING_NAMES)[number];

/** A damaged record is no difference between two modules: nobody can accept it. */
export const ALLOWABLE_NAMES = FINDING_NAMES.filter((name) => name !== 'record-damaged');

/** An entity of which it was found. */
export interface FindingExample {
  readonly id: string;
  /** The event or record; of a state, the last one in it. Absent: before the first, or not looked for. */
  readonly seq?: number | undefined;
  /** What is wrong, in the module's words; of a state, its first difference. */
  readonly problem: string;
}

export interface Finding {
  readonly name: FindingName;
  /** Of a route, its endpoint. */
  readonly component: string;
  /** What tells it from others of its name: a path, a handler, an event's case, a route. */
  readonly subject: string;
  /** A sentence without its stop. */
  readonly message: string;
  /** How many it was found of; 0 when it was found in the descriptors. */
  readonly entities: number;
  /** By their ids, the first few. */
  readonly examples: readonly FindingExample[];
}

const EXAMPLES_MAX = 5;
/** Of one name and component. */
const SUBJECTS_MAX = 100;
const OTHERS = '…';

type Group = { -readonly [Key in keyof Finding]: Finding[Key] };

export class UpgradeFindings {
  readonly #groups = new Map<string, Group>();
  /** Name and component → how many subjects. */
  readonly #subjects = new Map<string, number>();

  /** Found of an entity, for the first time. */
  add(finding: Omit<Finding, 'entities' | 'examples'>, example: FindingExample): void {
    this.merge({ ...finding, entities: 1, examples: [example] });
  }

  /** Whether an example of a finding is among those that are listed, so that more may be found out about it. */
  keeps(finding: Pick<Finding, 'name' | 'component' | 'subject'>, example: ExamplePlace): boolean {
    const family = `${finding.name} ${finding.component}`;
    const isOther = (this.#subjects.get(family) ?? 0) >= SUBJECTS_MAX;
    const known =
      this.#groups.get(`${family} ${finding.subject}`) ??
      (isOther ? this.#groups.get(`${family} ${OTHERS}`) : undefined);
    const last = known?.examples[EXAMPLES_MAX - 1];
    return last === undefined || exampleOrder(example, last) < 0;
  }

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

  /** In the order of FINDING_NAMES, then by component and subject. */
  list(): Finding[] {
    return [...this.#groups.values()].toSorted(
      (a, b) =>
        FINDING_NAMES.indexOf(a.name) - FINDING_NAMES.indexOf(b.name) ||
        order(a.component, b.component) ||
        order(a.subject, b.subject),
    );
  }

  /** What was found since, and from now on nothing. */
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

type ExamplePlace = Pick<FindingExample, 'id' | 'seq'>;

function exampleOrder(a: ExamplePlace, b: ExamplePlace): number {
  return order(a.id, b.id) || (a.seq ?? 0) - (b.seq ?? 0);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
